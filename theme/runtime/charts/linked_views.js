/**
 * Linked views, which highlight the same object: pointing at it, by pointer or by keyboard, marks it wherever the page shows
 * it. What shows objects names them, "kind:name" apart by spaces, in `data-links`; charts, whose
 * marks are no elements, follow by a function.
 */

import { queryAll, closestTarget } from "../page/dom.js";

const LINK_SELECTOR = "[data-links]";
/** @type {Set<(names: string[]) => void>} */
const listeners = new Set();
/** @type {string[]} */
let pointedNames = [];

/** Registers a listener for the names of the objects pointed at, called now too. */
export function onPoint(listener) {
  listeners.add(listener);
  if (pointedNames.length) listener(pointedNames);
}

/** @param {string[]} names of the objects to mark, and no others */
export function pointAt(names) {
  if (names.join(" ") === pointedNames.join(" ")) return;
  pointedNames = names;
  for (const element of queryAll("[data-linked]")) element.removeAttribute("data-linked");
  for (const name of names) {
    for (const element of queryAll(`[data-links~="${CSS.escape(name)}"]`)) {
      element.setAttribute("data-linked", "");
    }
  }
  for (const listener of listeners) listener(names);
}

/** @param {Element | null} element @returns {string[]} */
function linkedNames(element) {
  return element?.getAttribute("data-links")?.split(" ") ?? [];
}

for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    if (!closestTarget(event, ".pointing")) pointAt(linkedNames(closestTarget(event, LINK_SELECTOR)));
  }, { passive: true });
}

document.addEventListener("keydown", (event) => {
  const { key } = event;
  if (key === "Escape") pointAt([]);
  const by = { ArrowUp: -1, ArrowDown: 1 }[key], on = /** @type {Element} */ (event.target);
  if (!by) return;
  if (on.matches("tr[data-links]")) focusNextRow(on, by, event);
  else if (on.matches("[data-stage]")) pointToNext(on, by, event);
});

/** Focuses the next table row that shows an object. */
function focusNextRow(row, step, event) {
  const rows = queryAll("tr[data-links]", row.closest("table"));
  rows[rows.indexOf(row) + step]?.focus();
  event.preventDefault();
}

/** Points at the next object of a drawing, in drawing order. */
function pointToNext(stage, step, event) {
  const groups = [...new Set(queryAll(LINK_SELECTOR, stage).map((shape) => shape.dataset.links ?? ""))];
  const current = groups.indexOf(pointedNames.join(" "));
  const next = current < 0 && step < 0 ? groups.length - 1 : Math.min(Math.max(current + step, 0), groups.length - 1);
  if (groups[next]) pointAt(groups[next].split(" "));
  event.preventDefault();
}

for (const stage of queryAll("[data-stage]")) {
  if (!stage.querySelector(LINK_SELECTOR)) continue;
  stage.tabIndex = 0;
  stage.setAttribute("role", "group");
  stage.setAttribute("aria-label", stage.querySelector("svg")?.getAttribute("aria-label") ?? "");
}
