/** Data tables of charts: rendered while open, marked stale otherwise. */

import { setAttribute, isStaleTable, elementsOf, closestTarget } from "../page/dom.js";
import { morph } from "./morph.js";

/** @param {(name: string | undefined) => import("./controls.js").Calculator | undefined} find */
export function listenForTables(find) {
  const refreshTable = (/** @type {Event} */ event) => {
    const details = /** @type {HTMLDetailsElement | null} */ (closestTarget(event, "details.data"));
    const figure = /** @type {HTMLElement | null} */ (details?.closest("[data-output]") ?? null);
    if (details?.open && figure && isStaleTable(details)) find(figure.dataset.of)?.refresh();
  };
  document.addEventListener("toggle", refreshTable, { capture: true });
}

/** Marks the table of a changed chart as stale. @param {HTMLElement} figure */
export function markTableStale(figure) {
  const table = figure.querySelector("[data-table]");
  if (table) setAttribute(table, "data-old", "");
}

/** @param {string} calculator @param {Record<string, string>} tables output -> HTML */
export function renderTables(calculator, tables) {
  for (const figure of elementsOf(calculator, "figure.chart")) {
    const html = tables[figure.dataset.output ?? ""], table = figure.querySelector("[data-table]");
    if (html === undefined || !table) continue;
    morph(table, html);
    table.removeAttribute("data-old");
  }
}
