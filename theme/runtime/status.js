/** The state of the calculators in words: beside them where there is room for it, else on the page. */

import { all, attribute, partsOf, words, write } from "./dom.js";

/** @param {string[]} calculators @param {"static" | "loading" | "live" | "failed"} state */
export function showState(calculators, state) {
  for (const name of calculators) {
    for (const root of partsOf(name, "[data-calculator]")) attribute(root, "data-state", state);
  }
}

/**
 * @param {string} calculator
 * @param {string} sentence empty to say nothing
 * @param {{retry?: boolean}} [options]
 */
export function say(calculator, sentence, { retry = false } = {}) {
  const lines = partsOf(calculator, "[data-status]");
  for (const line of lines) {
    const text = line.querySelector("[data-status-text]");
    if (text) write(text, "textContent", sentence);
    for (const button of all("[data-retry]", line)) write(button, "hidden", !retry);
  }
  // A sentence that nobody sees is said at the edge of the page as well.
  if (!sentence || !lines.some(isInView)) notice(sentence, retry);
}

/** @param {Element} element */
function isInView(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight && bottom > top;
}

/** @param {string} sentence @param {boolean} [retry] */
export function notice(sentence, retry = false) {
  const box = document.querySelector("[data-notice]");
  if (!(box instanceof HTMLElement)) return;
  const text = box.querySelector("[data-notice-text]");
  if (text) write(text, "textContent", sentence);
  for (const button of all("[data-retry]", box)) write(button, "hidden", !retry);
  write(box, "hidden", sentence === "");
}

/** @param {string} calculator */
export function sayLoading(calculator) {
  say(calculator, words("loading"));
}
