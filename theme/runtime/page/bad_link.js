/** What could not be used of the page's address: said at the top, with a way to each place. */

import { announce } from "./announce.js";
import { partsOf, words } from "./dom.js";

/** @typedef {{errors: [string, string][], problems: string[]}} Wrong */

/** The lines to show, by what they are about. @type {Map<string, HTMLElement[]>} */
const lines = new Map();

/**
 * @param {string} calculator
 * @param {Wrong} wrong inputs and why their values were not used; all else
 * @param {Record<string, string>} given what the address says
 */
export function showWrong(calculator, { errors, problems }, given) {
  if (!errors.length && !problems.length && !lines.has(calculator)) return;
  put(calculator, [
    ...errors.map(([input, error]) => line(error, calculator, input, given[input] ?? "")),
    ...problems.map((problem) => line(problem)),
  ]);
}

/** Keys that stand more than once in the address: the last one holds. @param {string[]} keys */
export function showTwice(keys) {
  if (keys.length) put("", keys.map((name) => line(words("twice", { name }))));
}

export function hideWrong() {
  document.querySelector("[data-wrong]")?.setAttribute("hidden", "");
}

/** @param {string} about @param {HTMLElement[]} found */
function put(about, found) {
  if (found.length) lines.set(about, found);
  else lines.delete(about);
  const box = /** @type {HTMLElement | null} */ (document.querySelector("[data-wrong]"));
  if (!box) return;
  const before = box.textContent;
  box.querySelector("ul")?.replaceChildren(...[...lines.values()].flat());
  box.hidden = lines.size === 0;
  if (!box.hidden && box.textContent !== before) announce(box.querySelector("p")?.textContent ?? "");
}

/** @param {string} text @param {string} [calculator] @param {string} [input] @param {string} [value] */
function line(text, calculator = "", input = "", value = "") {
  const made = document.createElement("li"), field = input && fieldOf(calculator, input);
  made.append(text);
  if (!field) return made;
  const jump = document.createElement("button");
  jump.type = "button";
  jump.textContent = `${nameOf(field) || input} = ${value}`;
  jump.addEventListener("click", () => goTo(field));
  made.prepend(jump, " ");
  return made;
}

/** The input in the calculator itself; in a sentence where there is none. */
function fieldOf(calculator, input) {
  const found = partsOf(calculator, `[name="${input}"]`);
  return /** @type {HTMLInputElement | undefined} */ (
    found.find((one) => one.closest("[data-calculator]")) ?? found[0]);
}

/** @param {HTMLInputElement} field */
function nameOf(field) {
  return field.labels?.[0]?.textContent?.trim() ?? field.getAttribute("aria-label");
}

/** @param {HTMLInputElement} field */
function goTo(field) {
  for (let around = field.closest("details"); around; around = around.parentElement?.closest("details") ?? null) {
    around.open = true;
  }
  field.focus({ preventScroll: true });
  field.scrollIntoView({ block: "center" });
}
