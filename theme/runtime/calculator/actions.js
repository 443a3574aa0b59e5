/**
 * Actions that set several inputs: buttons for presets, remedies, challenges, Undo and Reset; links
 * and shapes with `[data-set]`.
 */

import { setAttribute, parseJson, elementsOf, closestTarget } from "../page/dom.js";

/** The reader's inputs, saved while a challenge runs, by calculator. @type {Map<string, object>} */
const savedInputs = new Map();

/** @param {(name: string | undefined) => import("./controls.js").Calculator | undefined} find */
export function listenToActions(find) {
  document.addEventListener("click", (event) => {
    const button = closestTarget(event, "button");
    if (!button) applyLink(event, find);
    const owner = /** @type {HTMLElement | null} */ (button?.closest("[data-of]") ?? null);
    const calculator = find(owner?.dataset.of);
    if (!button || !calculator || button.getAttribute("aria-disabled") === "true") return;
    const { preset, start, apply } = button.dataset;
    if (preset === "") return; // what it sets has not arrived
    if (preset !== undefined && "fresh" in button.dataset) calculator.replace(parseJson(preset), event);
    else if (preset !== undefined) calculator.change({ values: parseJson(preset) }, event);
    else if (apply !== undefined) calculator.change({ values: remedyValues(button, apply) }, event);
    else if (start !== undefined) startChallenge(calculator, parseJson(start), event);
    else if ("restore" in button.dataset) restoreInputs(calculator, event);
    else if ("reset" in button.dataset) calculator.replace({}, event);
    else if ("undo" in button.dataset) calculator.undo(event);
  });
}

/** Sets what a link or a shape names, and goes to the calculator if it is another one. */
function applyLink(event, find) {
  const element = closestTarget(event, "[data-set]");
  const ownName = /** @type {HTMLElement | null} */ (element?.closest("[data-of]") ?? null)?.dataset.of;
  const name = (element instanceof HTMLAnchorElement && element.hash.slice(1)) || ownName;
  const calculator = find(name);
  if (!element || !calculator || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const pairs = [...new URLSearchParams(element.dataset.set)];
  const values = Object.fromEntries(pairs.map(([key, value]) => [key.slice(name.length + 1), value]));
  calculator.change({ values }, event);
  if (name !== ownName) document.getElementById(name)?.scrollIntoView();
}

/** Returns the inputs that a remedy sets. */
function remedyValues(button, key) {
  const advice = /** @type {HTMLElement | null} */ (button.closest("[data-changes]"));
  return parseJson(advice?.dataset.changes)?.[key] ?? {};
}

/** Starts a challenge, after pending changes, which are saved too. */
function startChallenge(calculator, values, event) {
  calculator.whenAtRest(() => {
    if (!savedInputs.has(calculator.name)) savedInputs.set(calculator.name, calculator.state.base);
    calculator.replace(values, event);
  });
}

function restoreInputs(calculator, event) {
  const inputs = savedInputs.get(calculator.name);
  savedInputs.delete(calculator.name);
  if (inputs) calculator.replace(inputs, event);
}

/** Enables the buttons of actions that are possible now. A button keeps the focus when it has nothing more to do. */
export function updateActions(calculator) {
  const { bad, base, canUndo } = calculator.state;
  const actions = {
    "[data-undo]": canUndo,
    "[data-reset]": Object.keys({ ...base, ...bad }).length > 0,
    "[data-restore]": savedInputs.has(calculator.name),
  };
  for (const [selector, isPossible] of Object.entries(actions)) {
    for (const button of elementsOf(calculator.name, selector)) {
      button.removeAttribute("disabled");
      setAttribute(button, "aria-disabled", String(!isPossible));
    }
  }
}
