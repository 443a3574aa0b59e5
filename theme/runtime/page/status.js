/** The state of the calculators in words: beside them, and at the page's edge if that is not in view. */

import { announce } from "./announce.js";
import { all, attribute, partsOf, target, words, write } from "./dom.js";

/** Whether the notice shows a state, which ends by itself, or a message, which the reader closes. */
let ofState = false;
/** The message to come back to when the state has ended. */
let message = "";

// Here, not with what is live: a page speaks before that is fetched.
document.addEventListener("click", (event) => {
  if (target(event, "[data-dismiss]")) notice("");
});

/** @param {string[]} calculators @param {"static" | "loading" | "live" | "failed"} state */
export function showState(calculators, state) {
  for (const name of calculators) {
    for (const root of partsOf(name, "[data-calculator]")) attribute(root, "data-state", state);
  }
}

/** @param {string} calculator @param {string} sentence empty to say nothing */
export function say(calculator, sentence) {
  const lines = partsOf(calculator, "[data-status]");
  fill(lines, sentence, false);
  if (sentence && !lines.some(isInView)) show(sentence, false, true);
  else if (ofState) show(message, false, false);
}

/** @param {string} calculator */
export function sayLoading(calculator) {
  say(calculator, words("loading"));
}

/** A computation takes long; the page stays as it is meanwhile. @param {string} calculator */
export function sayWorking(calculator) {
  say(calculator, words("working"));
  announce(words("working"));
  for (const root of partsOf(calculator, "[data-calculator]")) attribute(root, "aria-busy", "true");
}

/** @param {string} calculator */
export function sayDone(calculator) {
  for (const root of partsOf(calculator, "[data-calculator]")) root.removeAttribute("aria-busy");
}

/** @param {string} sentence why no calculator can be live */
export function sayFailure(sentence) {
  const lines = all("[data-status]");
  fill(lines, sentence, true);
  if (lines.some(isInView)) show(message, false, false);
  else show(sentence, true, true);
}

/** @param {string} sentence stays until the reader closes it; empty to close it */
export function notice(sentence) {
  message = sentence;
  show(message, false, false);
}

/** @param {HTMLElement[]} lines @param {string} sentence @param {boolean} retry */
function fill(lines, sentence, retry) {
  for (const line of lines) {
    const text = line.querySelector("[data-status-text], [data-notice-text]");
    if (text) write(text, "textContent", sentence);
    for (const button of all("[data-retry]", line)) write(button, "hidden", !retry);
  }
}

/** @param {string} sentence @param {boolean} retry @param {boolean} isState */
function show(sentence, retry, isState) {
  ofState = isState;
  const boxes = all("[data-notice]");
  fill(boxes, sentence, retry);
  for (const box of boxes) write(box, "hidden", sentence === "");
}

/** @param {Element} element */
function isInView(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight && bottom > top;
}
