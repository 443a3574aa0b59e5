/** Charts before they are live: what draws them is fetched only when one is near. */

import { dataOf, whenWanted } from "../page/figures.js";

/** @typedef {{take: (view: any) => void, redraw: () => void}} Follower */

/** @type {typeof import("./chart.js") | undefined} */
let drawing;
/** The newest view of every chart that got one. @type {Map<HTMLElement, any>} */
const newest = new Map();
/** What gets the views of a chart in its place. @type {Map<HTMLElement, Follower>} */
const followers = new Map();

/** What a chart shows now. @param {HTMLElement} figure */
export async function viewOf(figure) {
  return newest.get(figure) ?? (await dataOf(figure)).view;
}

/** @param {HTMLElement} figure @param {any} view */
export function update(figure, view) {
  newest.set(figure, view);
  const follower = followers.get(figure);
  if (follower) follower.take(view);
  else if (drawing) drawing.update(figure, view);
  else load();
}

/** @returns {Promise<typeof import("./chart.js")>} */
async function load() {
  if (drawing) return drawing;
  drawing = await import("./chart.js");
  for (const [figure, view] of newest) drawing.update(figure, view);
  return drawing;
}

/** Makes every chart live once it is near and the page is idle, or when the reader touches it. */
export function startCharts() {
  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("figure.chart")
  )) {
    whenWanted(figure, async () => {
      const [chart, item] = await Promise.all([load(), dataOf(figure)]);
      if (!item) return;
      const followed = follow(figure, chart, item.view).catch(reportError);
      await chart.upgrade(figure, item);
      await followed;
      followers.get(figure)?.redraw();
    });
  }
}

const CELLS = ["bars", "timeline"]; // charts whose marks can be pointed at one by one

/** A timeline with a player, and a chart of cells that name objects, are more than a picture. */
async function follow(figure, chart, first) {
  if (followers.has(figure)) return; // only the library was missing before
  const view = newest.get(figure) ?? first;
  const draw = (now, drawn) => chart.update(figure, now, drawn);
  if (view.player) {
    const { createTimelinePlayer } = await import("../timeline/player.js");
    followers.set(figure, createTimelinePlayer(figure, newest.get(figure) ?? first, { draw }));
  } else if (CELLS.includes(view.kind) && JSON.stringify(view).includes('"links":')) {
    const { createLinked } = await import("./linked.js");
    followers.set(figure, createLinked(figure, newest.get(figure) ?? first, { draw }));
  }
}
