/**
 * A guess before the answer: `[data-predict]`. Every stop of the slider has its text and how the truth
 * compares with it, written at build time; they come with the receipts. A guess is remembered for this
 * visit and never graded.
 */

import { all, attribute, parsed, words, write } from "./dom.js";
import { remembered } from "./guesses.js";
import { bringReceipts } from "./receipts.js";

/**
 * @typedef {[string, string] | [string, number, string]} Stop a guess and how the truth compares with it:
 *   in words, or one of the forms and the number in it
 * @typedef {{said: [string, string], forms: [string, string][], stops: Stop[]}} Told what a verdict begins
 *   with, what stands around its number, every guess
 */

/** @param {HTMLElement} block @param {string} name @returns {any} */
function part(block, name) {
  return block.querySelector(name);
}

/** What is known of every stop. @param {HTMLElement} block @returns {Promise<Told | null>} null where it does not come */
export async function told(block) {
  await bringReceipts().catch(() => {});
  return parsed(document.querySelector(`[data-stops="${block.dataset.predict}"]`)?.textContent ?? "");
}

/** @param {HTMLElement} block */
export async function show(block) {
  const found = await told(block), slider = part(block, "[data-guess-slider]");
  if (!found) return;
  const [text] = found.stops[slider.valueAsNumber];
  write(part(block, "[data-guess]"), "textContent", text);
  attribute(slider, "aria-valuetext", text);
}

/** @param {HTMLElement} block */
async function compare(block) {
  const found = await told(block), verdict = part(block, "[data-verdict]");
  if (!found) return write(verdict, "textContent", words("uncompared"));
  const { said, forms, stops } = found, at = part(block, "[data-guess-slider]").valueAsNumber;
  const [text, how, number] = stops[at];
  const compared = typeof how === "number" ? forms[how].join(number) : how;
  write(verdict, "textContent", said[0] + text + said[1] + compared);
}

/** @param {HTMLElement} block @param {boolean} guessed */
export function reveal(block, guessed) {
  const slider = part(block, "[data-guess-slider]");
  if (guessed) {
    compare(block);
    part(block, '[data-mark="guess"]').style.left = `${(100 * slider.valueAsNumber) / Number(slider.max)}%`;
    write(part(block, "[data-marks]"), "hidden", false);
  }
  block.parentElement?.querySelector("details[data-answer]")?.setAttribute("open", "");
  remembered(block.dataset.predict, guessed ? slider.value : "");
  block.classList.add("revealed");
  const buttons = all("[data-reveal], [data-skip]", block);
  if (buttons.some((button) => button === document.activeElement)) slider.focus();
  for (const button of buttons) write(button, "hidden", true);
}

/** @param {HTMLElement} block @param {string} guess of this visit, "" where it was skipped */
export function restore(block, guess) {
  if (guess) {
    part(block, "[data-guess-slider]").value = guess;
    show(block);
  }
  reveal(block, guess !== "");
}
