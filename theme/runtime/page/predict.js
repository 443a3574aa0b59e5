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
  const answer = block.parentElement?.querySelector("details[data-answer]");

  /** What is known of every stop comes with the receipts. @returns {Promise<Told | null>} null where it does not */
  async function told() {
    const { bringReceipts } = await import("./receipts.js");
    await bringReceipts().catch(() => {});
    return parsed(document.querySelector(`[data-stops="${id}"]`)?.textContent ?? "");
  }

  async function show() {
    const found = await told();
    if (!found) return;
    const [text] = found.stops[slider.valueAsNumber];
    write(part("[data-guess]"), "textContent", text);
    attribute(slider, "aria-valuetext", text);
  }

  async function compare() {
    const found = await told();
    if (!found) return;
    const { said, forms, stops } = found, [text, how, number] = stops[slider.valueAsNumber];
    const compared = typeof how === "number" ? forms[how].join(number) : how;
    write(part("[data-verdict]"), "textContent", said[0] + text + said[1] + compared);
  }

  /** @param {boolean} guessed */
  function reveal(guessed) {
    if (guessed) {
      compare();
      part('[data-mark="guess"]').style.left = `${(100 * slider.valueAsNumber) / Number(slider.max)}%`;
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
  for (const sign of ["pointerover", "focusin"]) block.addEventListener(sign, told, { once: true, passive: true });
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
