/**
 * DOM morphing: updates an element's content to new HTML with few changes, so that the focus, an
 * open <details> and a text selection survive. Children are matched by `data-key`, `data-symbol`
 * or id, else in order by tag.
 */

import { fillEquations } from "./equation.js";

/** Attributes that the reader sets. */
const READER_ATTRIBUTES = ["open"];

/** @param {Element} element @param {string} html written by the engine */
export function morph(element, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  fillEquations(template.content);
  labelSources(template.content);
  morphChildren(element, template.content);
}

/** Labels citations by author and year, as in the text. */
function labelSources(root) {
  for (const link of root.querySelectorAll("a[data-cite]")) {
    const entry = document.getElementById(`ref-${link.getAttribute("data-cite")}`);
    if (entry?.dataset.citeLabel && link.textContent === link.getAttribute("data-cite")) {
      link.textContent = entry.dataset.citeLabel;
    }
  }
}

/** @param {Element} current @param {ParentNode & Node} wanted */
function morphChildren(current, wanted) {
  const keyed = new Map();
  for (const child of current.children) if (keyOf(child)) keyed.set(keyOf(child), child);
  let cursor = current.firstChild;
  for (const child of [...wanted.childNodes]) {
    const childKey = child instanceof Element ? keyOf(child) : null;
    const match = childKey ? keyed.get(childKey) : cursor && !keyOf(cursor) && isSameType(cursor, child) ? cursor : null;
    if (!match || !isSameType(match, child)) {
      current.insertBefore(child, cursor);
      continue;
    }
    if (match === cursor) cursor = cursor.nextSibling;
    else current.insertBefore(match, cursor);
    morphNode(match, child);
  }
  while (cursor) {
    const nextSibling = cursor.nextSibling;
    cursor.remove();
    cursor = nextSibling;
  }
}

/** @param {Node} node @returns {string | null} */
function keyOf(node) {
  if (!(node instanceof Element)) return null;
  return node.getAttribute("data-key") ?? node.getAttribute("data-symbol") ?? (node.id || null);
}

/** @param {Node} a @param {Node} b */
function isSameType(a, b) {
  return a.nodeName === b.nodeName && a.nodeType === b.nodeType;
}

/** @param {Node} current @param {Node} wanted */
function morphNode(current, wanted) {
  if (!(current instanceof Element) || !(wanted instanceof Element)) {
    if (current.nodeValue !== wanted.nodeValue) current.nodeValue = wanted.nodeValue;
    return;
  }
  for (const { name } of [...current.attributes]) {
    if (!READER_ATTRIBUTES.includes(name) && !wanted.hasAttribute(name)) current.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (current.getAttribute(name) !== value) current.setAttribute(name, value);
  }
  morphChildren(current, wanted);
}
