/**
 * Comparison of a guess with the answer: `[data-predict]`. Every stop of the slider has its text and how the truth
 * compares with it, written at build time; they come with the receipts. A guess is remembered for this
 * visit and never graded.
 */

import { queryAll, setAttribute, parseJson, uiString, setProperty } from "./dom.js";
import { storedGuess } from "./guesses.js";
import { loadReceipts } from "./receipts.js";

/**
 * @typedef {[string, string] | [string, number, string]} Stop a guess and how the truth compares with it:
 *   in words, or one of the forms and the number in it
 * @typedef {{said: [string, string], forms: [string, string][], stops: Stop[]}} Stops what a verdict begins
 *   with, what stands around its number, every guess
 */

/** @param {HTMLElement} block @param {string} name @returns {any} */
function query(block, name) {
  return block.querySelector(name);
}

/** Loads the texts of every stop. @param {HTMLElement} block @returns {Promise<Stops | null>} null where it does not come */
export async function loadStops(block) {
  await loadReceipts().catch(() => {});
  return parseJson(document.querySelector(`[data-stops="${block.dataset.predict}"]`)?.textContent ?? "");
}

/** @param {HTMLElement} block */
export async function renderGuess(block) {
  const stops = await loadStops(block), slider = query(block, "[data-guess-slider]");
  if (!stops) return;
  const [text] = stops.stops[slider.valueAsNumber];
  setProperty(query(block, "[data-guess]"), "textContent", text);
  setAttribute(slider, "aria-valuetext", text);
}

/** @param {HTMLElement} block */
async function renderVerdict(block) {
  const stopData = await loadStops(block), verdict = query(block, "[data-verdict]");
  if (!stopData) return setProperty(verdict, "textContent", uiString("uncompared"));
  const { said: sentence, forms, stops } = stopData, index = query(block, "[data-guess-slider]").valueAsNumber;
  const [text, comparison, number] = stops[index];
  const outcome = typeof comparison === "number" ? forms[comparison].join(number) : comparison;
  setProperty(verdict, "textContent", sentence[0] + text + sentence[1] + outcome);
}

/** @param {HTMLElement} block @param {boolean} guessed */
export function reveal(block, guessed) {
  const slider = query(block, "[data-guess-slider]");
  if (guessed) {
    renderVerdict(block);
    query(block, '[data-mark="guess"]').style.left = `${(100 * slider.valueAsNumber) / Number(slider.max)}%`;
    setProperty(query(block, "[data-marks]"), "hidden", false);
  }
  block.parentElement?.querySelector("details[data-answer]")?.setAttribute("open", "");
  storedGuess(block.dataset.predict, guessed ? slider.value : "");
  block.classList.add("revealed");
  const buttons = queryAll("[data-reveal], [data-skip]", block);
  if (buttons.some((button) => button === document.activeElement)) slider.focus();
  for (const button of buttons) setProperty(button, "hidden", true);
}

/** @param {HTMLElement} block @param {string} guess of this visit, "" where it was skipped */
export function restoreGuess(block, guess) {
  if (guess) {
    query(block, "[data-guess-slider]").value = guess;
    renderGuess(block);
  }
  reveal(block, guess !== "");
}
