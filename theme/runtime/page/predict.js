/**
 * A guess before the answer: `[data-predict]`. Every stop of the slider carries its text and how
 * the truth compares with it, written at build time. A guess is remembered for this visit and never graded.
 */

import { all, attribute, parsed, write } from "./dom.js";

/**
 * @typedef {[string, string] | [string, number, string]} Stop a guess and how the truth compares with it:
 *   in words, or one of the forms and the number in it
 * @typedef {{said: [string, string], forms: [string, string][], stops: Stop[]}} Told what a verdict begins
 *   with, what stands around its number, every guess
 */

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
  /** @type {Told} */
  const { said, forms, stops } = parsed(part("[data-stops]").textContent);
  const answer = block.parentElement?.querySelector("details[data-answer]");

  function show() {
    const [text] = stops[slider.valueAsNumber];
    write(part("[data-guess]"), "textContent", text);
    attribute(slider, "aria-valuetext", text);
  }

  /** @param {boolean} guessed */
  function reveal(guessed) {
    if (guessed) {
      const [text, how, number] = stops[slider.valueAsNumber];
      const compared = typeof how === "number" ? forms[how].join(number) : how;
      part('[data-mark="guess"]').style.left = `${(100 * slider.valueAsNumber) / Number(slider.max)}%`;
      write(part("[data-verdict]"), "textContent", said[0] + text + said[1] + compared);
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
