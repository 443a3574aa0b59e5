/**
 * Equations typeset at build time. `[data-equation]` gets a copy of its template, `[data-tex]` the
 * symbol's; the empty slots of the numeric form take the texts in `data-symbols`.
 */

import { all, parsed, write } from "../page/dom.js";

/** @param {ParentNode} root */
export function fillEquations(root) {
  for (const place of all("[data-equation]", root)) fillEquation(place);
  for (const place of all("[data-tex]", root)) {
    if (!place.firstElementChild) copy(place, "tex", place.dataset.tex ?? "");
  }
}

/** Mark what the builder has filled already. */
export function adoptEquations() {
  for (const place of all("[data-equation]")) {
    if (place.firstElementChild) place.dataset.filled = place.dataset.equation;
  }
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
  const template = document.querySelector(`template[data-${kind}-template="${name}"]`);
  if (template instanceof HTMLTemplateElement) {
    place.replaceChildren(template.content.cloneNode(true));
  }
}
