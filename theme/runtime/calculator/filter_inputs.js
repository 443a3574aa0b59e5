/** The box above a long form that leaves only the inputs which match what is typed. */

import { closestTarget, parseJson, queryAll, setProperty } from "../page/dom.js";

/** Input -> words that find it, beside those that it shows, by calculator. @type {Map<string, Record<string, string>>} */
const wordsOf = new Map();
/** Folds that the reader had opened before the box was used. @type {WeakMap<Element, boolean>} */
const openBefore = new WeakMap();

/** @param {string} text */
const plain = (text) => text.toLowerCase().replace(/[-_.]+/g, " ").trim();

/** Words of a field: its label, hint, options, name, and flags of training software. @param {HTMLElement} field @param {Record<string, string>} words */
function searchText(field, words) {
  const { name } = /** @type {HTMLInputElement} */ (field.querySelector("[name], [data-file]")) ?? { name: "" };
  return plain(`${field.textContent} ${name} ${words[name || field.dataset.field || ""] ?? ""}`);
}

/** @param {string} calculator */
function words(calculator) {
  const known = wordsOf.get(calculator);
  if (known) return known;
  const found = parseJson(document.querySelector(`[data-finds="${calculator}"]`)?.textContent ?? "");
  if (found) wordsOf.set(calculator, found);
  return found ?? {};
}

/** Shows the inputs of a form that hold every typed word. @param {HTMLInputElement} box */
export function filterInputs(box) {
  const form = /** @type {HTMLElement} */ (box.closest(".inputs"));
  const calculator = /** @type {HTMLElement} */ (box.closest("[data-calculator]")).dataset.calculator ?? "";
  const asked = plain(box.value).split(/\s+/).filter(Boolean);
  const fields = queryAll(".field", form);
  let found = 0;
  for (const field of fields) {
    const text = asked.length ? searchText(field, words(calculator)) : "";
    const matches = asked.every((word) => text.includes(word));
    found += Number(matches);
    setProperty(field, "hidden", !matches);
  }
  for (const fold of /** @type {HTMLDetailsElement[]} */ (queryAll("details.advanced", form))) {
    const before = openBefore.get(fold);
    if (!asked.length) {
      if (before !== undefined) fold.open = before;
      openBefore.delete(fold);
      fold.hidden = false;
      continue;
    }
    if (before === undefined) openBefore.set(fold, fold.open);
    fold.hidden = !fold.querySelector(".field:not([hidden])");
    fold.open = !fold.hidden;
  }
  const { dataset } = box, status = /** @type {HTMLElement} */ (form.querySelector("[data-filtered]"));
  const said = found ? dataset.some : dataset.none;
  status.textContent = asked.length ? (said ?? "").replace("{n}", `${found}`).replace("{all}", `${fields.length}`) : "";
}

/** Listens to every such box of the page, and takes what was typed before. */
export function listenToFilters() {
  document.addEventListener("input", (event) => {
    const box = /** @type {HTMLInputElement | null} */ (closestTarget(event, "[data-filter]"));
    if (box) filterInputs(box);
  });
  for (const box of /** @type {HTMLInputElement[]} */ (queryAll("[data-filter]"))) if (box.value) filterInputs(box);
}
