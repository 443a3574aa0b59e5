/**
 * Equations, typeset at build time and copied on demand. `[data-equation]` gets a copy of one that the page was built with,
 * `[data-tex]` that of a symbol; what the page showed nowhere came in a template. The slots of the
 * numeric form take the texts in `data-symbols`.
 */

import { queryAll, parseJson, setProperty } from "../page/dom.js";

/** "equation NAME" or "tex NAME.SYMBOL" -> its markup. @type {Map<string, DocumentFragment>} */
const typesetCopies = new Map();

/** @param {ParentNode} root */
export function fillEquations(root) {
  for (const element of queryAll("[data-equation]", root)) fillEquation(element);
  for (const element of queryAll("[data-tex]", root)) {
    if (!element.firstElementChild) insertCopy(element, "tex", element.dataset.tex ?? "");
  }
}

/** Collects copies of the equations that the builder has filled in. */
export function collectEquations() {
  for (const element of queryAll("[data-equation]")) {
    if (!element.firstElementChild) continue;
    element.dataset.filled = element.dataset.equation;
    addCopy(`equation ${element.dataset.equation}`, element);
  }
  for (const element of queryAll("[data-tex]")) addCopy(`tex ${element.dataset.tex}`, element);
  for (const kind of ["equation", "tex"]) {
    for (const template of queryAll(`template[data-${kind}-template]`)) {
      const { content } = /** @type {any} */ (template);
      addCopy(`${kind} ${template.getAttribute(`data-${kind}-template`)}`, content);
    }
  }
}

/** @param {string} name @param {ParentNode & Node} source */
function addCopy(name, source) {
  if (typesetCopies.has(name) || !source.firstElementChild) return;
  const copied = document.createDocumentFragment();
  copied.append(...[...source.childNodes].map((node) => node.cloneNode(true)));
  typesetCopies.set(name, copied);
}

/** @param {HTMLElement} element */
export function fillEquation(element) {
  const name = element.dataset.equation ?? "";
  if (element.dataset.filled !== name) {
    insertCopy(element, "equation", name);
    element.dataset.filled = name;
  }
  const texts = parseJson(element.dataset.symbols) ?? {};
  for (const slot of queryAll("[data-slot]", element)) {
    setProperty(slot, "textContent", texts[slot.dataset.slot ?? ""] ?? "");
  }
}

/** @param {Element} element @param {"equation" | "tex"} kind @param {string} name */
function insertCopy(element, kind, name) {
  const typeset = typesetCopies.get(`${kind} ${name}`);
  if (typeset) element.replaceChildren(typeset.cloneNode(true));
}
