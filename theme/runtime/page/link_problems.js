/** Invalid values of the page's URL: a list at the top with a button to each field. */

import { announce } from "./announce.js";
import { elementsOf, uiString } from "./dom.js";

/** @typedef {{errors: [string, string][], problems: string[]}} LinkProblems */

/** Lines of the list by topic. @type {Map<string, HTMLElement[]>} */
const linesByTopic = new Map();

/**
 * @param {string} calculator
 * @param {LinkProblems} wrong inputs and why their values were not used; all else
 * @param {Record<string, string>} addressValues what the address says
 */
export function renderLinkProblems(calculator, { errors, problems }, addressValues) {
  if (!errors.length && !problems.length && !linesByTopic.has(calculator)) return;
  setLines(calculator, [
    ...errors.map(([input, error]) => createLine(error, calculator, input, addressValues[input] ?? "")),
    ...problems.map((problem) => createLine(problem)),
  ]);
}

/** Keys that stand more than once in the address: the last one holds. @param {string[]} keys */
export function renderDuplicateKeys(keys) {
  if (keys.length) setLines("", keys.map((name) => createLine(uiString("twice", { name }))));
}

export function hideLinkProblems() {
  document.querySelector("[data-wrong]")?.setAttribute("hidden", "");
}

/** @param {string} topic @param {HTMLElement[]} topicLines */
function setLines(topic, topicLines) {
  if (topicLines.length) linesByTopic.set(topic, topicLines);
  else linesByTopic.delete(topic);
  const box = /** @type {HTMLElement | null} */ (document.querySelector("[data-wrong]"));
  if (!box) return;
  const previousText = box.textContent;
  box.querySelector("ul")?.replaceChildren(...[...linesByTopic.values()].flat());
  box.hidden = linesByTopic.size === 0;
  if (!box.hidden && box.textContent !== previousText) announce(box.querySelector("p")?.textContent ?? "");
}

/** @param {string} text @param {string} [calculator] @param {string} [input] @param {string} [value] */
function createLine(text, calculator = "", input = "", value = "") {
  const item = document.createElement("li"), field = input && fieldOf(calculator, input);
  item.append(text);
  if (!field) return item;
  const jump = document.createElement("button");
  jump.type = "button";
  jump.textContent = `${labelOf(field) || input} = ${value}`;
  jump.addEventListener("click", () => focusField(field));
  item.prepend(jump, " ");
  return item;
}

/** Returns the input inside the calculator, or else one in the prose. */
function fieldOf(calculator, input) {
  const fields = elementsOf(calculator, `[name="${input}"]`);
  return /** @type {HTMLInputElement | undefined} */ (
    fields.find((field) => field.closest("[data-calculator]")) ?? fields[0]);
}

/** @param {HTMLInputElement} field */
function labelOf(field) {
  return field.labels?.[0]?.textContent?.trim() ?? field.getAttribute("aria-label");
}

/** @param {HTMLInputElement} field */
function focusField(field) {
  for (let details = field.closest("details"); details; details = details.parentElement?.closest("details") ?? null) {
    details.open = true;
  }
  field.focus({ preventScroll: true });
  field.scrollIntoView({ block: "center" });
}
