/**
 * Buttons that set several inputs at once: presets, remedies, challenges, Undo and Reset; and links
 * and shapes with `[data-set]` that set some and leave the others.
 */

import { attribute, parsed, partsOf, target } from "../page/dom.js";

/** The reader's own numbers, put aside while a challenge runs. @type {Map<string, object>} */
const aside = new Map();

/** @param {(name: string | undefined) => import("./controls.js").Calculator | undefined} find */
export function listenToActions(find) {
  document.addEventListener("click", (event) => {
    const button = target(event, "button");
    if (!button) open(event, find);
    const owner = /** @type {HTMLElement | null} */ (button?.closest("[data-of]") ?? null);
    const calculator = find(owner?.dataset.of);
    if (!button || !calculator || button.getAttribute("aria-disabled") === "true") return;
    const { preset, start, apply } = button.dataset;
    if (preset === "") return; // what it sets has not arrived
    if (preset !== undefined && "fresh" in button.dataset) calculator.replace(parsed(preset), event);
    else if (preset !== undefined) calculator.change({ values: parsed(preset) }, event);
    else if (apply !== undefined) calculator.change({ values: remedy(button, apply) }, event);
    else if (start !== undefined) begin(calculator, parsed(start), event);
    else if ("restore" in button.dataset) restore(calculator, event);
    else if ("reset" in button.dataset) calculator.replace({}, event);
    else if ("undo" in button.dataset) calculator.undo(event);
  });
}

/** Sets what a link or a shape names, and goes to the calculator if it is another one. */
function open(event, find) {
  const part = target(event, "[data-set]");
  const own = /** @type {HTMLElement | null} */ (part?.closest("[data-of]") ?? null)?.dataset.of;
  const name = (part instanceof HTMLAnchorElement && part.hash.slice(1)) || own;
  const calculator = find(name);
  if (!part || !calculator || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const given = [...new URLSearchParams(part.dataset.set)];
  const values = Object.fromEntries(given.map(([key, value]) => [key.slice(name.length + 1), value]));
  calculator.change({ values }, event);
  if (name !== own) document.getElementById(name)?.scrollIntoView();
}

/** What a remedy changes stands beside it. */
function remedy(button, key) {
  const advice = /** @type {HTMLElement | null} */ (button.closest("[data-changes]"));
  return parsed(advice?.dataset.changes)?.[key] ?? {};
}

/** What the reader set last may still be on its way to the engine: it is put aside as well. */
function begin(calculator, values, event) {
  calculator.atRest(() => {
    if (!aside.has(calculator.name)) aside.set(calculator.name, calculator.state.base);
    calculator.replace(values, event);
  });
}

function restore(calculator, event) {
  const own = aside.get(calculator.name);
  aside.delete(calculator.name);
  if (own) calculator.replace(own, event);
}

/** Offer what can be done now. A button keeps the focus when it has nothing more to do. */
export function offerActions(calculator) {
  const { bad, base, canUndo } = calculator.state;
  const offered = {
    "[data-undo]": canUndo,
    "[data-reset]": Object.keys({ ...base, ...bad }).length > 0,
    "[data-restore]": aside.has(calculator.name),
  };
  for (const [selector, possible] of Object.entries(offered)) {
    for (const button of partsOf(calculator.name, selector)) {
      button.removeAttribute("disabled");
      attribute(button, "aria-disabled", String(!possible));
    }
  }
}
