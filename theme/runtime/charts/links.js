/**
 * Linked views: pointing at an object, by pointer or by keyboard, marks it wherever the page shows
 * it. What shows objects names them, "kind:name" apart by spaces, in `data-links`; charts, whose
 * marks are no elements, follow by a function.
 */

import { all, target } from "../page/dom.js";

const PLACES = "[data-links]";
/** @type {Set<(names: string[]) => void>} */
const charts = new Set();
/** @type {string[]} */
let pointed = [];

/** Calls `show` with the names of what is pointed at, now too; none of them at the end. */
export function follow(show) {
  charts.add(show);
  if (pointed.length) show(pointed);
}

/** @param {string[]} names of the objects to mark, and no others */
export function point(names) {
  if (names.join(" ") === pointed.join(" ")) return;
  pointed = names;
  for (const element of all("[data-linked]")) element.removeAttribute("data-linked");
  for (const name of names) {
    for (const element of all(`[data-links~="${CSS.escape(name)}"]`)) {
      element.setAttribute("data-linked", "");
    }
  }
  for (const show of charts) show(names);
}

/** @param {Element | null} element @returns {string[]} */
function namesOf(element) {
  return element?.getAttribute("data-links")?.split(" ") ?? [];
}

for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => {
    if (!target(event, ".pointing")) point(namesOf(target(event, PLACES)));
  }, { passive: true });
}

document.addEventListener("keydown", (event) => {
  const { key } = event;
  if (key === "Escape") point([]);
  const by = { ArrowUp: -1, ArrowDown: 1 }[key], on = /** @type {Element} */ (event.target);
  if (!by) return;
  if (on.matches("tr[data-links]")) go(on, by, event);
  else if (on.matches("[data-stage]")) walk(on, by, event);
});

/** From a row of a table to the next that shows an object. */
function go(row, by, event) {
  const rows = all("tr[data-links]", row.closest("table"));
  rows[rows.indexOf(row) + by]?.focus();
  event.preventDefault();
}

/** From one object of a drawing to the next, in the order in which they are drawn. */
function walk(stage, by, event) {
  const groups = [...new Set(all(PLACES, stage).map((shape) => shape.dataset.links ?? ""))];
  const at = groups.indexOf(pointed.join(" "));
  const next = at < 0 && by < 0 ? groups.length - 1 : Math.min(Math.max(at + by, 0), groups.length - 1);
  if (groups[next]) point(groups[next].split(" "));
  event.preventDefault();
}

for (const stage of all("[data-stage]")) {
  if (!stage.querySelector(PLACES)) continue;
  stage.tabIndex = 0;
  stage.setAttribute("role", "group");
  stage.setAttribute("aria-label", stage.querySelector("svg")?.getAttribute("aria-label") ?? "");
}
