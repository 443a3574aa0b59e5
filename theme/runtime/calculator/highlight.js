/** Pointing at a symbol of a formula marks the input it comes from, and the other way round. */

import { all, parsed, partsOf, target } from "../page/dom.js";

const SPOTS = "[data-from], [data-slot], [data-slide], [name][data-of], [data-field]";
/** @type {Element[]} */
let marked = [];

export function listenForHighlight() {
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => mark(target(event, SPOTS)), { passive: true });
  }
}

/** @param {HTMLElement | null} spot */
function mark(spot) {
  for (const element of marked) element.classList.remove("linked");
  marked = [];
  const owner = /** @type {HTMLElement | null} */ (spot?.closest("[data-of]") ?? null);
  const input = spot && inputOf(spot);
  if (!owner || !input) return;
  const calculator = owner.dataset.of ?? "";
  marked = [
    ...partsOf(calculator, `[name="${input}"]`),
    ...places(calculator).filter((place) => inputOf(place) === input),
  ];
  for (const element of marked) element.classList.add("linked");
}

/** @param {string} calculator @returns {HTMLElement[]} the symbols that stand for inputs */
function places(calculator) {
  return all("[data-from], [data-slot]").filter(
    (place) => /** @type {any} */ (place.closest("[data-of]"))?.dataset.of === calculator,
  );
}

/** @param {HTMLElement} spot @returns {string | undefined} */
function inputOf(spot) {
  const { from, slide, field, slot } = spot.dataset;
  if (!slot) return from ?? slide ?? field ?? spot.getAttribute("name") ?? undefined;
  const formula = /** @type {HTMLElement | null} */ (spot.closest("[data-inputs]"));
  const listed = spot.closest("[data-receipt]")?.querySelector(`[data-symbol="${slot}"]`);
  return parsed(formula?.dataset.inputs)?.[slot] ?? /** @type {any} */ (listed)?.dataset.from;
}
