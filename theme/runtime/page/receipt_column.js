/**
 * On a wide desk a lab's receipt stands under its first figure, and stays there: that of the headline, or
 * of the number that was pressed last. On any other window it opens over the page, as everywhere.
 */

import { queryAll } from "./dom.js";

/** As wide as in styles/with/workbench.css, where the figure gets a column. */
const wideDesk = matchMedia("(min-width: 118rem)");
const NUMBERS = "button.number[popovertarget]";
/** The receipt that each lab shows, and the number that it is of. @type {Map<HTMLElement, {receipt: HTMLElement, number: Element}>} */
const shown = new Map();

/** @param {HTMLElement} lab */
function columnOf(lab) {
  const figure = lab.querySelector(":scope > .results > figure");
  const column = figure?.querySelector(":scope > .receipt-column") ?? document.createElement("div");
  column.className = "receipt-column";
  figure?.append(column);
  return figure && column;
}

/** @param {HTMLElement} lab @param {Element | null} number */
function show(lab, number) {
  const receipt = document.getElementById(number?.getAttribute("popovertarget") ?? ""), column = columnOf(lab);
  if (!number || !receipt?.matches("[data-receipt-for]") || !column) return false;
  release(lab);
  receipt.removeAttribute("popover");
  Object.assign(receipt, { role: "group", tabIndex: -1 });
  column.replaceChildren(receipt);
  number.setAttribute("data-receipt-shown", "");
  shown.set(lab, { receipt, number });
  document.dispatchEvent(new CustomEvent("receipt", { detail: receipt.dataset.of }));
  return true;
}

/** Gives a lab's receipt back to the page. @param {HTMLElement} lab */
function release(lab) {
  const { receipt, number } = shown.get(lab) ?? {};
  if (!receipt) return;
  number?.removeAttribute("data-receipt-shown");
  receipt.setAttribute("popover", "");
  Object.assign(receipt, { role: "dialog" });
  (document.querySelector(".popovers") ?? document.body).append(receipt);
  shown.delete(lab);
}

function fitWindow() {
  for (const lab of queryAll(".workbench")) {
    if (wideDesk.matches) show(lab, lab.querySelector(`.lead ${NUMBERS}`));
    else release(lab);
  }
}

document.addEventListener("click", (event) => {
  const number = event.target instanceof Element ? event.target.closest(NUMBERS) : null;
  const lab = /** @type {HTMLElement | null} */ (number?.closest(".workbench"));
  // A press of the number whose receipt stands there already has nothing to open.
  if (!lab || !wideDesk.matches || !show(lab, number)) return;
  event.preventDefault();
  if (!event.detail) shown.get(lab)?.receipt.focus(); // pressed by a key
}, { capture: true });
wideDesk.addEventListener("change", fitWindow);
fitWindow();
