/** Status messages: next to each calculator, or in the page's notice if that is out of view. */

import { announce } from "./announce.js";
import { queryAll, setAttribute, elementsOf, closestTarget, uiString, setProperty } from "./dom.js";

/** Whether the notice shows a calculator's state rather than a message that the reader closes. */
let isStateShown = false;
/** Message shown again when the state has ended. */
let message = "";

// Here, not with what is live: a page speaks before that is fetched.
document.addEventListener("click", (event) => {
  if (closestTarget(event, "[data-dismiss]")) showNotice("");
});

/** @param {string[]} calculators @param {"static" | "loading" | "live" | "failed"} state */
export function renderState(calculators, state) {
  for (const name of calculators) {
    for (const root of elementsOf(name, "[data-calculator]")) setAttribute(root, "data-state", state);
  }
}

/** @param {string} calculator @param {string} sentence empty to say nothing */
export function renderStatus(calculator, sentence) {
  const lines = elementsOf(calculator, "[data-status]");
  setLines(lines, sentence, false);
  if (sentence && !lines.some(isInWindow)) setNotice(sentence, false, true);
  else if (isStateShown) setNotice(message, false, false);
}

/** @param {string} calculator */
export function renderLoading(calculator) {
  renderStatus(calculator, uiString("loading"));
}

/** Shows a calculator as busy. @param {string} calculator */
export function renderWorking(calculator) {
  renderStatus(calculator, uiString("working"));
  announce(uiString("working"));
  for (const root of elementsOf(calculator, "[data-calculator]")) setAttribute(root, "aria-busy", "true");
}

/** @param {string} calculator */
export function clearWorking(calculator) {
  for (const root of elementsOf(calculator, "[data-calculator]")) root.removeAttribute("aria-busy");
}

/** @param {string} sentence why no calculator can be live */
export function renderFailure(sentence) {
  const lines = queryAll("[data-status]");
  setLines(lines, sentence, true);
  if (lines.some(isInWindow)) setNotice(message, false, false);
  else setNotice(sentence, true, true);
}

/** @param {string} sentence stays until the reader closes it; empty to close it */
export function showNotice(sentence) {
  message = sentence;
  setNotice(message, false, false);
}

/** @param {HTMLElement[]} lines @param {string} sentence @param {boolean} retry */
function setLines(lines, sentence, retry) {
  for (const line of lines) {
    const text = line.querySelector("[data-status-text], [data-notice-text]");
    if (text) setProperty(text, "textContent", sentence);
    for (const button of queryAll("[data-retry]", line)) setProperty(button, "hidden", !retry);
  }
}

/** @param {string} sentence @param {boolean} retry @param {boolean} isState */
function setNotice(sentence, retry, isState) {
  isStateShown = isState;
  const boxes = queryAll("[data-notice]");
  setLines(boxes, sentence, retry);
  for (const box of boxes) setProperty(box, "hidden", sentence === "");
}

/** @param {Element} element */
function isInWindow(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight && bottom > top;
}
