/** Progress of a long computation, with Cancel and Go on; shown after a delay. */

import { announce } from "./announce.js";
import { queryAll, setAttribute, elementsOf, closestTarget, setProperty } from "./dom.js";

const PROGRESS_DELAY = 400; // milliseconds that nobody needs to be told about

/**
 * Running computations by calculator; `canceled` holds until the inputs change.
 *
 * @type {Map<string, {key: string, since: number, canceled: boolean}>}
 */
const computations = new Map();

/**
 * @param {string} name
 * @param {import("../calculator/calculator.js").Reply} reply
 * @param {boolean} isShown whether progress is shown
 */
export function renderProgress(name, { progress, inputs }, isShown) {
  const inputsKey = JSON.stringify(Object.values(inputs).map(({ value }) => value));
  const previous = computations.get(name);
  if (!progress || !isShown) {
    computations.delete(name);
    for (const box of elementsOf(name, "[data-searching]")) setProperty(box, "hidden", true);
    return;
  }
  const current = previous?.key === inputsKey ? previous : { key: inputsKey, since: performance.now(), canceled: false };
  computations.set(name, current);
  if (current.canceled) return;
  for (const box of elementsOf(name, "[data-searching]")) {
    renderBox(box, progress.text, false);
    for (const bar of queryAll("progress", box)) setProperty(bar, "value", progress.share);
    if (!box.hidden || performance.now() - current.since < PROGRESS_DELAY) continue;
    box.hidden = false;
    announce(progress.text);
  }
}

/** @param {string} name @returns {boolean} */
export function isCanceled(name) {
  return Boolean(computations.get(name)?.canceled);
}

/** Resumes a canceled computation, whose result is requested. @param {string} name */
export function resumeComputation(name) {
  const computation = computations.get(name);
  if (!computation?.canceled) return;
  computation.canceled = false;
  for (const box of elementsOf(name, "[data-searching]")) renderBox(box, "", false);
}

/** @param {(name: string) => void} resume */
export function listenToProgress(resume) {
  document.addEventListener("click", (event) => {
    const button = closestTarget(event, "[data-searching] button");
    const box = /** @type {HTMLElement | null} */ (button?.closest("[data-searching]"));
    const computation = computations.get(box?.dataset.of ?? "");
    if (!button || !box || !computation) return;
    if ("cancel" in button.dataset) {
      computation.canceled = true;
      renderBox(box, box.dataset.canceled ?? "", true);
      announce(box.dataset.canceled ?? "");
    } else {
      resumeComputation(box.dataset.of ?? "");
      resume(box.dataset.of ?? "");
    }
    queryAll("button:not([hidden])", box)[0]?.focus();
  });
}

/** @param {HTMLElement} box @param {string} text @param {boolean} canceled */
function renderBox(box, text, canceled) {
  for (const element of queryAll("[data-searching-text]", box)) setProperty(element, "textContent", text);
  for (const button of queryAll("button", box)) setProperty(button, "hidden", "cancel" in button.dataset === canceled);
  for (const bar of queryAll("progress", box)) setProperty(bar, "hidden", canceled);
  setAttribute(box, "data-searching", canceled ? "canceled" : "");
}
