/** Shows the engine's views in their places: texts, fragments, equations, charts, scenes, code. */

import * as chart from "../charts/charts.js";
import { all, attribute, partsOf, write } from "../page/dom.js";
import { isNear } from "../page/nearby.js";
import { showScene } from "../player/scene.js";
import { fillEquation } from "./equation.js";
import { morph } from "./morph.js";
import { outdate, showTables } from "./tables.js";

/** What each place shows now, so that an unchanged view costs nothing. */
const shown = new WeakMap();
/** Figures that show an older result: far from the window, or slow to make. @type {Set<HTMLElement>} */
const behind = new Set();

/**
 * @param {import("./calculator.js").Reply} reply
 * @param {string} calculator
 * @param {boolean} asBuilt the reply is what the page was built with
 */
export function showViews(calculator, reply, asBuilt) {
  if (!reply.outputs) return;
  for (const place of partsOf(calculator, "[data-output]")) {
    const name = place.dataset.output ?? "";
    const view = reply.outputs[name];
    const late = Boolean(reply.later?.includes(name));
    const right = asBuilt && !shown.has(place);
    place.toggleAttribute("data-behind", late && !right);
    if (!view) {
      // There is none for these inputs, it takes long, or nobody asked for it: it was not near then.
      if (late) behind.add(place);
      else if (right || reply.asked?.includes(name)) behind.delete(place);
      else if (!reply.rest) behind.add(place);
      continue;
    }
    const text = JSON.stringify(view);
    behind.delete(place);
    if (shown.get(place) === text) continue;
    if (!reply.rest && !isNear(place)) {
      behind.add(place);
      continue;
    }
    shown.set(place, text);
    if (right) continue; // it stands there: drawing it once more would only keep a phone busy
    showTitle(place, view);
    (KINDS[view.kind] ?? showFragment)(place, view);
  }
  // What nobody asked for stays: it was not near then.
  for (const part of ["also", "note"]) {
    for (const place of partsOf(calculator, `[data-${part}]`)) {
      const name = place.dataset[part] ?? "", view = reply.outputs[name];
      if (view || reply.asked?.includes(name)) writeText(place, view?.[part] ?? "");
    }
  }
  showTables(calculator, reply.extra.table ?? {});
}

/** @param {string} calculator @returns {boolean} whether a figure of it shows an older result */
export function isBehind(calculator) {
  return [...behind].some((place) => place.dataset.of === calculator);
}

/** @param {string} calculator @returns {string[]} what is behind, and near the window if any is */
export function viewsBehind(calculator) {
  const places = [...behind].filter((place) => place.dataset.of === calculator);
  const near = places.filter(isNear);
  return (near.length ? near : places).map(({ dataset }) => dataset.output ?? "");
}

/**
 * What the reader can see; a figure far from the window is not made until the reader pauses.
 *
 * @param {string} calculator
 * @returns {string[]}
 */
export function wantedViews(calculator) {
  const places = partsOf(calculator, ":is([data-output], [data-also], [data-note])").filter(isNear);
  const names = places.map(({ dataset }) => dataset.output ?? dataset.also ?? dataset.note ?? "");
  return [...new Set(names)];
}

/**
 * The tables that lie open.
 *
 * @param {string} calculator
 * @param {boolean} everywhere
 */
export function wantedExtras(calculator, everywhere) {
  const charts = partsOf(calculator, "figure.chart").filter((one) => everywhere || isNear(one));
  const open = charts.filter((figure) => figure.querySelector("details.data[open]"));
  return { table: [...new Set(open.map((figure) => figure.dataset.output ?? ""))] };
}

/** @type {Record<string, (place: HTMLElement, view: any) => void>} */
const KINDS = {
  value: showValue,
  formula: showFormula,
  code: showCode,
  scene: showScene,
  lines: showChart,
  bars: showChart,
  timeline: showChart,
  heatmap: showChart,
};

/** A title may name what was chosen. */
function showTitle(place, view) {
  const title = place.querySelector("figcaption > strong, .view-title");
  if (title && view.title) write(/** @type {HTMLElement} */ (title), "textContent", view.title);
}

/** The text node stays where it is one: its words are laid out anew, and no box around them is made. */
function writeText(place, text) {
  const { firstChild } = place;
  if (firstChild instanceof Text && !firstChild.nextSibling && text) write(firstChild, "data", text);
  else write(place, "textContent", text);
}

function showValue(place, view) {
  writeText(place, view.text);
  attribute(place, "data-value", view.value === null ? "" : String(view.value));
  attribute(place, "title", view.label);
  place.style.setProperty("--tone", `var(--${view.color})`);
}

function showFragment(place, view) {
  if (view.remedies) {
    const changes = view.remedies.map((/** @type {any} */ one) => [one.key, one.change]);
    attribute(place, "data-changes", JSON.stringify(Object.fromEntries(changes)));
  }
  morph(place.querySelector("[data-fragment]") ?? place, view.html);
}

function showFormula(place, view) {
  for (const equation of all("[data-equation]", place)) {
    attribute(equation, "data-equation", view.equation);
    attribute(equation, "data-symbols", JSON.stringify(view.symbols));
    attribute(equation, "data-inputs", JSON.stringify(view.inputs));
    fillEquation(equation);
  }
}

function showCode(place, view) {
  for (const code of all("code", place)) write(code, "textContent", view.text);
}

function showChart(place, view) {
  for (const caption of all("[data-caption]", place)) write(caption, "textContent", view.caption);
  outdate(place);
  chart.update(place, view);
}
