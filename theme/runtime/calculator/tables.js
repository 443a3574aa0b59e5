/** The data under a chart: written when it lies open, known to be old otherwise. */

import { attribute, isOld, partsOf, target } from "../page/dom.js";
import { morph } from "./morph.js";

/** @param {(name: string | undefined) => import("./controls.js").Calculator | undefined} find */
export function listenForTables(find) {
  const renew = (/** @type {Event} */ event) => {
    const details = /** @type {HTMLDetailsElement | null} */ (target(event, "details.data"));
    const figure = /** @type {HTMLElement | null} */ (details?.closest("[data-output]") ?? null);
    if (details?.open && figure && isOld(details)) find(figure.dataset.of)?.refresh();
  };
  document.addEventListener("toggle", renew, { capture: true });
}

/** The chart shows another view, so its table is old. @param {HTMLElement} figure */
export function outdate(figure) {
  const table = figure.querySelector("[data-table]");
  if (table) attribute(table, "data-old", "");
}

/** @param {string} calculator @param {Record<string, string>} tables output -> HTML */
export function showTables(calculator, tables) {
  for (const place of partsOf(calculator, "figure.chart")) {
    const html = tables[place.dataset.output ?? ""], into = place.querySelector("[data-table]");
    if (html === undefined || !into) continue;
    morph(into, html);
    into.removeAttribute("data-old");
  }
}
