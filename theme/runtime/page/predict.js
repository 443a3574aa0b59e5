/**
 * A guess before the answer: `[data-predict]`. Every stop of the slider carries its text and its
 * verdict, written at build time. A guess is remembered for this visit and never graded.
 */

import { all, attribute, parsed, write } from "./dom.js";

/** @typedef {{at: number, text: string, verdict: string}} Stop */

/** @param {string} id @param {string} [guess] */
function remembered(id, guess) {
  const key = `wallclock.guess.${location.pathname}.${id}`;
  try {
    if (guess !== undefined) sessionStorage.setItem(key, guess);
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {HTMLElement} block */
export function startPrediction(block) {
  const id = block.dataset.predict ?? "";
  const part = (/** @type {string} */ name) => /** @type {any} */ (block.querySelector(name));
  const slider = /** @type {HTMLInputElement} */ (part("[data-guess-slider]"));
  /** @type {Stop[]} */
  const stops = parsed(part("[data-stops]").textContent);
  const answer = block.parentElement?.querySelector("details[data-answer]");

  function show() {
    const stop = stops[slider.valueAsNumber];
    write(part("[data-guess]"), "textContent", stop.text);
    attribute(slider, "aria-valuetext", stop.text);
  }

  /** @param {boolean} guessed */
  function reveal(guessed) {
    if (guessed) {
      const stop = stops[slider.valueAsNumber];
      part('[data-mark="guess"]').style.left = `${stop.at}%`;
      write(part("[data-verdict]"), "textContent", stop.verdict);
      write(part("[data-marks]"), "hidden", false);
    }
    answer?.setAttribute("open", "");
    remembered(id, guessed ? slider.value : "");
    block.classList.add("revealed");
    const buttons = all("[data-reveal], [data-skip]", block);
    if (buttons.some((button) => button === document.activeElement)) slider.focus();
    for (const button of buttons) write(button, "hidden", true);
  }

  block.classList.add("ready");
  slider.addEventListener("input", show);
  slider.addEventListener("keydown", (event) => event.key === "Enter" && reveal(true));
  for (const button of all("[data-reveal]", block)) {
    button.addEventListener("click", () => reveal(true));
  }
  for (const button of all("[data-skip]", block)) {
    button.addEventListener("click", () => reveal(false));
  }
  const before = remembered(id);
  if (before === null) return;
  if (before !== "") {
    slider.value = before;
    show();
  }
  reveal(before !== "");
}
