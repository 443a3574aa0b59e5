/**
 * Autosize of inline inputs and selects: as wide as their text. For browsers without the CSS property
 * `field-sizing`, this measures the text.
 */

import { queryAll } from "./dom.js";

const ARROW_WIDTH = 28; // pixels beside the words of a list
const hasFieldSizing = CSS.supports("field-sizing", "content");
/** @type {CanvasRenderingContext2D | null} */
let canvasContext = null;

/** @param {HTMLInputElement | HTMLSelectElement} control */
export function fitWidth(control) {
  if (hasFieldSizing || !control.matches("input.drag, select.inline")) return;
  if (control instanceof HTMLSelectElement) {
    canvasContext ??= /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    ({ font: canvasContext.font } = getComputedStyle(control));
    const text = control.selectedOptions[0]?.text ?? "";
    control.style.width = `${Math.ceil(canvasContext.measureText(text).width) + ARROW_WIDTH}px`;
  } else {
    control.style.width = "0"; // now its text is what scrolls in it
    const { scrollWidth } = control;
    control.style.width = scrollWidth ? `${scrollWidth + 1}px` : ""; // what is hidden cannot be measured
  }
}

// All of the page at once, when its letters are there; later changes come one by one.
if (!hasFieldSizing) {
  document.fonts.ready.then(() => {
    for (const control of queryAll("input.drag, select.inline")) fitWidth(/** @type {any} */ (control));
  });
}
