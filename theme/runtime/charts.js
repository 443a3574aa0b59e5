/** Charts before they are live: what draws them is fetched only when one is near. */

import { dataOf, whenWanted } from "./figures.js";

/** @type {typeof import("./chart.js") | undefined} */
let drawing;
/** The newest view of a chart that came before what draws it. @type {Map<HTMLElement, any>} */
const early = new Map();

/** Whether the engine has to draw this figure's picture. @param {HTMLElement} figure */
export function needsSvg(figure) {
  return drawing?.needsSvg(figure) ?? true;
}

/** @param {HTMLElement} figure @param {any} view */
export function update(figure, view) {
  if (drawing) drawing.update(figure, view);
  else early.set(figure, view);
}

/** @returns {Promise<typeof import("./chart.js")>} */
async function load() {
  drawing ??= await import("./chart.js");
  for (const [figure, view] of early) drawing.update(figure, view);
  early.clear();
  return drawing;
}

/** Makes every chart live once it is near and the page is idle, or when the reader touches it. */
export function startCharts() {
  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (
    document.querySelectorAll("figure.chart")
  )) {
    whenWanted(figure, async () => {
      const [chart, item] = await Promise.all([load(), dataOf(figure)]);
      if (item) await chart.upgrade(figure, item);
    });
  }
}
