/**
 * A number and a list in a sentence are as wide as their text. Styles say so (`field-sizing`); for a
 * browser that does not know that, this measures the text.
 */

import { all } from "./dom.js";

const ARROW = 28; // pixels beside the words of a list
const knows = CSS.supports("field-sizing", "content");
/** @type {CanvasRenderingContext2D | null} */
let pen = null;

/** @param {HTMLInputElement | HTMLSelectElement} control */
export function narrow(control) {
  if (knows || !control.matches("input.drag, select.inline")) return;
  if (control instanceof HTMLSelectElement) {
    pen ??= /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    ({ font: pen.font } = getComputedStyle(control));
    const words = control.selectedOptions[0]?.text ?? "";
    control.style.width = `${Math.ceil(pen.measureText(words).width) + ARROW}px`;
  } else {
    control.style.width = "0"; // now its text is what scrolls in it
    const { scrollWidth } = control;
    control.style.width = scrollWidth ? `${scrollWidth + 1}px` : ""; // what is hidden cannot be measured
  }
}

// All of the page at once, when its letters are there; later changes come one by one.
if (!knows) {
  document.fonts.ready.then(() => {
    for (const control of all("input.drag, select.inline")) narrow(/** @type {any} */ (control));
  });
}
