/** Rendering of the engine's views: texts, fragments, equations, charts, scenes, code. */

import * as chart from "../charts/charts.js";
import { queryAll, setAttribute, elementsOf, setProperty } from "../page/dom.js";
import { isVisible } from "../page/visible_blocks.js";
import { renderScene } from "../player/scene.js";
import { fillEquation } from "./equation.js";
import { morph } from "./morph.js";
import { markTableStale, renderTables } from "./tables.js";

/** View shown in each element, as JSON; an unchanged one is skipped. */
const shownViews = new WeakMap();
/** Stale figures: far from the window, or slow to compute. @type {Set<HTMLElement>} */
const staleFigures = new Set();

/**
 * @param {import("./calculator.js").Reply} reply
 * @param {string} calculator
 * @param {boolean} asBuilt the reply is what the page was built with
 */
export function renderViews(calculator, reply, asBuilt) {
  if (!reply.outputs) return;
  for (const element of elementsOf(calculator, "[data-output]")) {
    const name = element.dataset.output ?? "";
    const view = reply.outputs[name];
    const isLate = Boolean(reply.later?.includes(name));
    const isAsBuilt = asBuilt && !shownViews.has(element);
    element.toggleAttribute("data-behind", isLate && !isAsBuilt);
    if (!view) {
      // There is none for these inputs, it takes long, or nobody asked for it: it was not near then.
      if (isLate) staleFigures.add(element);
      else if (isAsBuilt || reply.asked?.includes(name)) staleFigures.delete(element);
      else if (!reply.rest) staleFigures.add(element);
      continue;
    }
    const text = JSON.stringify(view);
    staleFigures.delete(element);
    if (shownViews.get(element) === text) continue;
    if (!reply.rest && !isVisible(element)) {
      staleFigures.add(element);
      continue;
    }
    shownViews.set(element, text);
    if (isAsBuilt) continue; // it stands there: drawing it once more would only keep a phone busy
    renderTitle(element, view);
    (RENDERERS[view.kind] ?? renderFragment)(element, view);
  }
  // What nobody asked for, or what comes later, stays as it is.
  const isGone = (/** @type {string} */ name) => reply.asked?.includes(name) && !reply.later?.includes(name);
  for (const kind of ["also", "note"]) {
    for (const element of elementsOf(calculator, `[data-${kind}]`)) {
      const name = element.dataset[kind] ?? "", view = reply.outputs[name];
      if (view || isGone(name)) renderText(element, view?.[kind] ?? "");
    }
  }
  renderTables(calculator, reply.extra.table ?? {});
}

/** @param {string} calculator @returns {boolean} whether it has a stale figure */
export function hasStaleFigures(calculator) {
  return [...staleFigures].some((figure) => figure.dataset.of === calculator);
}

/** @param {string} calculator @returns {string[]} names of stale views; only visible ones if there are any */
export function staleViews(calculator) {
  const figures = [...staleFigures].filter((figure) => figure.dataset.of === calculator);
  const visible = figures.filter(isVisible);
  return (visible.length ? visible : figures).map(({ dataset }) => dataset.output ?? "");
}

/**
 * Returns the names of visible views; others are not computed until the reader pauses.
 *
 * @param {string} calculator
 * @returns {string[]}
 */
export function visibleViews(calculator) {
  const elements = elementsOf(calculator, ":is([data-output], [data-also], [data-note])").filter(isVisible);
  const names = elements.map(({ dataset }) => dataset.output ?? dataset.also ?? dataset.note ?? "");
  return [...new Set(names)];
}

/**
 * Returns the open tables as extras of a request.
 *
 * @param {string} calculator
 * @param {boolean} everywhere
 */
export function openTables(calculator, everywhere) {
  const charts = elementsOf(calculator, "figure.chart").filter((figure) => everywhere || isVisible(figure));
  const openFigures = charts.filter((figure) => figure.querySelector("details.data[open]"));
  return { table: [...new Set(openFigures.map((figure) => figure.dataset.output ?? ""))] };
}

/** @type {Record<string, (place: HTMLElement, view: any) => void>} */
const RENDERERS = {
  value: renderValue,
  formula: renderFormula,
  code: renderCode,
  scene: renderScene,
  lines: renderChart,
  bars: renderChart,
  timeline: renderChart,
  heatmap: renderChart,
};

/** A title may name what was chosen. */
function renderTitle(element, view) {
  const title = element.querySelector("figcaption > strong, .view-title");
  if (title && view.title) setProperty(/** @type {HTMLElement} */ (title), "textContent", view.title);
}

/** Sets a text in the existing text node where there is one: cheaper to lay out. */
function renderText(element, text) {
  const { firstChild } = element;
  if (firstChild instanceof Text && !firstChild.nextSibling && text) setProperty(firstChild, "data", text);
  else setProperty(element, "textContent", text);
}

function renderValue(element, view) {
  renderText(element, view.text);
  setAttribute(element, "data-value", view.value === null ? "" : String(view.value));
  setAttribute(element, "title", view.label);
  element.style.setProperty("--tone", `var(--${view.color})`);
}

function renderFragment(element, view) {
  if (view.remedies) {
    const changes = view.remedies.map((/** @type {any} */ remedy) => [remedy.key, remedy.change]);
    setAttribute(element, "data-changes", JSON.stringify(Object.fromEntries(changes)));
  }
  morph(element.querySelector("[data-fragment]") ?? element, view.html);
}

function renderFormula(element, view) {
  for (const equation of queryAll("[data-equation]", element)) {
    setAttribute(equation, "data-equation", view.equation);
    setAttribute(equation, "data-symbols", JSON.stringify(view.symbols));
    setAttribute(equation, "data-inputs", JSON.stringify(view.inputs));
    fillEquation(equation);
  }
}

function renderCode(element, view) {
  for (const code of queryAll("code", element)) setProperty(code, "textContent", view.text);
}

function renderChart(figure, view) {
  for (const caption of queryAll("[data-caption]", figure)) setProperty(caption, "textContent", view.caption);
  markTableStale(figure);
  chart.updateChart(figure, view);
}
