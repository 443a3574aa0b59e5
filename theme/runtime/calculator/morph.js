/**
 * Turns an element's content into new HTML by changing as little as possible, so that the focus, an
 * open <details> and a text selection survive. Children are matched by `data-key`, `data-symbol`
 * or id, else in order by tag.
 */

import { fillEquations } from "./equation.js";

/** What belongs to the reader, not to the new text. */
const THEIRS = ["open"];

/** @param {Element} element @param {string} html written by the engine */
export function morph(element, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  fillEquations(template.content);
  nameSources(template.content);
  children(element, template.content);
}

/** A source in a receipt reads as it does in the text: by author and year. */
function nameSources(root) {
  for (const link of root.querySelectorAll("a[data-cite]")) {
    const entry = document.getElementById(`ref-${link.getAttribute("data-cite")}`);
    if (entry?.dataset.citeLabel && link.textContent === link.getAttribute("data-cite")) {
      link.textContent = entry.dataset.citeLabel;
    }
  }
}

/** @param {Element} now @param {ParentNode & Node} wanted */
function children(now, wanted) {
  const keyed = new Map();
  for (const child of now.children) if (key(child)) keyed.set(key(child), child);
  let at = now.firstChild;
  for (const next of [...wanted.childNodes]) {
    const name = next instanceof Element ? key(next) : null;
    const match = name ? keyed.get(name) : at && !key(at) && same(at, next) ? at : null;
    if (!match || !same(match, next)) {
      now.insertBefore(next, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else now.insertBefore(match, at);
    update(match, next);
  }
  while (at) {
    const rest = at.nextSibling;
    at.remove();
    at = rest;
  }
}

/** @param {Node} node @returns {string | null} */
function key(node) {
  if (!(node instanceof Element)) return null;
  return node.getAttribute("data-key") ?? node.getAttribute("data-symbol") ?? (node.id || null);
}

/** @param {Node} a @param {Node} b */
function same(a, b) {
  return a.nodeName === b.nodeName && a.nodeType === b.nodeType;
}

/** @param {Node} now @param {Node} wanted */
function update(now, wanted) {
  if (!(now instanceof Element) || !(wanted instanceof Element)) {
    if (now.nodeValue !== wanted.nodeValue) now.nodeValue = wanted.nodeValue;
    return;
  }
  for (const { name } of [...now.attributes]) {
    if (!THEIRS.includes(name) && !wanted.hasAttribute(name)) now.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (now.getAttribute(name) !== value) now.setAttribute(name, value);
  }
  children(now, wanted);
}
