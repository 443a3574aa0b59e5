/**
 * Equations typeset at build time. `[data-equation]` gets a copy of one that the page was built with,
 * `[data-tex]` that of a symbol; what the page showed nowhere came in a template. The slots of the
 * numeric form take the texts in `data-symbols`.
 */

import { all, parsed, write } from "../page/dom.js";

/** "equation NAME" or "tex NAME.SYMBOL" -> how it is set. @type {Map<string, DocumentFragment>} */
const typeset = new Map();

/** @param {ParentNode} root */
export function fillEquations(root) {
  for (const place of all("[data-equation]", root)) fillEquation(place);
  for (const place of all("[data-tex]", root)) {
    if (!place.firstElementChild) copy(place, "tex", place.dataset.tex ?? "");
  }
}

/** Takes a copy of what the builder has filled, and marks it. */
export function adoptEquations() {
  for (const place of all("[data-equation]")) {
    if (!place.firstElementChild) continue;
    place.dataset.filled = place.dataset.equation;
    learn(`equation ${place.dataset.equation}`, place);
  }
  for (const place of all("[data-tex]")) learn(`tex ${place.dataset.tex}`, place);
  for (const kind of ["equation", "tex"]) {
    for (const template of all(`template[data-${kind}-template]`)) {
      const { content } = /** @type {any} */ (template);
      learn(`${kind} ${template.getAttribute(`data-${kind}-template`)}`, content);
    }
  }
}

/** @param {string} name @param {ParentNode & Node} place */
function learn(name, place) {
  if (typeset.has(name) || !place.firstElementChild) return;
  const copied = document.createDocumentFragment();
  copied.append(...[...place.childNodes].map((node) => node.cloneNode(true)));
  typeset.set(name, copied);
}

/** @param {HTMLElement} place */
export function fillEquation(place) {
  const name = place.dataset.equation ?? "";
  if (place.dataset.filled !== name) {
    copy(place, "equation", name);
    place.dataset.filled = name;
  }
  const texts = parsed(place.dataset.symbols) ?? {};
  for (const slot of all("[data-slot]", place)) {
    write(slot, "textContent", texts[slot.dataset.slot ?? ""] ?? "");
  }
}

/** @param {Element} place @param {"equation" | "tex"} kind @param {string} name */
function copy(place, kind, name) {
  const found = typeset.get(`${kind} ${name}`);
  if (found) place.replaceChildren(found.cloneNode(true));
}
