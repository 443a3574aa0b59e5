/** Highlighting of a formula's symbol and its input, when either is hovered or focused. */

import { queryAll, parseJson, elementsOf, closestTarget } from "../page/dom.js";

const SYMBOL_SELECTOR = "[data-from], [data-slot], [data-slide], [name][data-of], [data-field]";
/** @type {Element[]} */
let highlighted = [];

export function listenForHighlight() {
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => highlight(closestTarget(event, SYMBOL_SELECTOR)), { passive: true });
  }
}

/** @param {HTMLElement | null} element */
function highlight(element) {
  for (const element of highlighted) element.classList.remove("linked");
  highlighted = [];
  const owner = /** @type {HTMLElement | null} */ (element?.closest("[data-of]") ?? null);
  const input = element && inputName(element);
  if (!owner || !input) return;
  const calculator = owner.dataset.of ?? "";
  highlighted = [
    ...elementsOf(calculator, `[name="${input}"]`),
    ...inputSymbols(calculator).filter((symbol) => inputName(symbol) === input),
  ];
  for (const element of highlighted) element.classList.add("linked");
}

/** @param {string} calculator @returns {HTMLElement[]} the symbols that stand for inputs */
function inputSymbols(calculator) {
  return queryAll("[data-from], [data-slot]").filter(
    (symbol) => /** @type {any} */ (symbol.closest("[data-of]"))?.dataset.of === calculator,
  );
}

/** @param {HTMLElement} element @returns {string | undefined} */
function inputName(element) {
  const { from, slide, field, slot } = element.dataset;
  if (!slot) return from ?? slide ?? field ?? element.getAttribute("name") ?? undefined;
  const formula = /** @type {HTMLElement | null} */ (element.closest("[data-inputs]"));
  const receiptSymbol = element.closest("[data-receipt]")?.querySelector(`[data-symbol="${slot}"]`);
  return parseJson(formula?.dataset.inputs)?.[slot] ?? /** @type {any} */ (receiptSymbol)?.dataset.from;
}
