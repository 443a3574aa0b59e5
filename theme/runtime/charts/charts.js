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

/** @param {HTMLElement} figure @param {any} view */
export function updateChart(figure, view) {
  newestViews.set(figure, view);
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
