/** Lazy charts: the chart module is loaded when one is near. */

import { fetchFigureData, onFirstUse } from "../page/figures.js";

/** @typedef {{update: (view: any) => void, redraw: () => void}} Follower */

/** @type {typeof import("./chart.js") | undefined} */
let chartModule;
/** The newest view of every chart that got one. @type {Map<HTMLElement, any>} */
const newestViews = new Map();
/** Players and linked charts, which receive the views of a figure. @type {Map<HTMLElement, Follower>} */
const followers = new Map();

/** Returns the current view of a chart. @param {HTMLElement} figure */
export async function currentView(figure) {
  return newestViews.get(figure) ?? (await fetchFigureData(figure)).view;
}

/** What every chart that was updated shows. @type {Map<HTMLElement, any>} */
const drawnViews = new Map();
/** The axes of each chart when the pointer went down. @type {Map<HTMLElement, any>} */
const heldAxes = new Map();
let isPressed = false;
document.addEventListener("pointerdown", () => (isPressed = true), { capture: true, passive: true });
for (const type of ["pointerup", "pointercancel"]) document.addEventListener(type, releaseAxes, { passive: true });

/** Draws the charts that were held with their own axes. */
function releaseAxes() {
  isPressed = false;
  const held = [...heldAxes.keys()];
  heldAxes.clear();
  for (const figure of held) updateChart(figure, newestViews.get(figure));
  if (held.length) document.dispatchEvent(new CustomEvent("redrawn"));
}

/** The view of a chart as it is drawn, on held axes. @param {HTMLElement} figure */
export async function shownView(figure) {
  return drawnViews.get(figure) ?? currentView(figure);
}

/**
 * The view on the axes of when the pointer went down, as far as it fits on them: on an axis that follows
 * its longest bar no change is seen.
 */
function onHeldAxes(figure, view) {
  const before = newestViews.get(figure);
  if (!isPressed || before?.kind !== view.kind) return view;
  const sides = view.kind === "lines" ? ["y"] : view.kind === "heatmap" ? [] : ["axis"];
  if (!heldAxes.has(figure)) heldAxes.set(figure, Object.fromEntries(sides.map((side) => [side, before[side]])));
  const held = heldAxes.get(figure), fits = (side) => held[side].scale === view[side].scale
    && held[side].label === view[side].label && held[side].low <= view[side].low && held[side].high >= view[side].high;
  const kept = sides.filter(fits);
  for (const side of sides) if (!kept.includes(side)) held[side] = view[side];
  return { ...view, ...Object.fromEntries(kept.map((side) => [side, held[side]])) };
}

/** @param {HTMLElement} figure @param {any} newView */
export function updateChart(figure, newView) {
  const view = onHeldAxes(figure, newView);
  newestViews.set(figure, newView);
  drawnViews.set(figure, view);
  const follower = followers.get(figure);
  if (follower) follower.update(view);
  else if (chartModule) chartModule.updateFigure(figure, view);
  else loadChartModule();
}

/** @returns {Promise<typeof import("./chart.js")>} */
async function loadChartModule() {
  if (chartModule) return chartModule;
  chartModule = await import("./chart.js");
  for (const [figure, view] of newestViews) chartModule.updateFigure(figure, view);
  return chartModule;
}

/** Makes every chart live once it is near and the page is idle, or when the reader touches it. */
export function prepareCharts() {
  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("figure.chart")
  )) {
    onFirstUse(figure, async () => {
      const [chart, item] = await Promise.all([loadChartModule(), fetchFigureData(figure)]);
      if (!item) return;
      const followed = attachFollower(figure, chart, item.view).catch(reportError);
      await chart.makeLive(figure, item);
      await followed;
      if (item.view.kind === "timeline" && item.view.grips) {
        chart.layOver(figure, (await import("./timeline_handles.js")).createTimelineHandles(figure));
      }
      followers.get(figure)?.redraw();
    });
  }
}

const CELLS = ["bars", "timeline"]; // charts whose marks can be pointed at one by one

/** A timeline with a player, and a chart of cells that name objects, are more than a picture. */
async function attachFollower(figure, chart, initialView) {
  if (followers.has(figure)) return; // only the library was missing before
  const view = newestViews.get(figure) ?? initialView;
  const draw = (shownView, marks) => chart.updateFigure(figure, shownView, marks);
  if (view.player) {
    const { createTimelinePlayer } = await import("../timeline/player.js");
    const player = createTimelinePlayer(figure, newestViews.get(figure) ?? initialView, { draw });
    followers.set(figure, player);
    if (figure.closest(".front")) (await import("../timeline/hold.js")).holdWhileChanged(figure, player, initialView);
  } else if (CELLS.includes(view.kind) && JSON.stringify(view).includes('"links":')) {
    const { createLinkedChart } = await import("./linked_chart.js");
    followers.set(figure, createLinkedChart(figure, newestViews.get(figure) ?? initialView, { draw }));
  }
}
