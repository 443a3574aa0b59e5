/** Lazy start of figures and the data they need, fetched when one is near. */

import { firstInteraction, whenIdle } from "./start.js";

/** @type {Promise<Record<string, any>> | undefined} */
let figureData;

/** Fetches the builder's data of a figure. @param {HTMLElement} figure @returns {Promise<any>} */
export async function fetchFigureData(figure) {
  figureData ??= fetchData("default").catch(() => fetchData("reload"));
  figureData.catch(() => (figureData = undefined)); // the next figure tries again
  return (await figureData)[`${figure.dataset.of}.${figure.dataset.output}`];
}

/** @param {RequestCache} cache @returns {Promise<Record<string, any>>} */
async function fetchData(cache) {
  return (await fetch(document.body.dataset.figures ?? "", { cache })).json();
}

/**
 * Calls `start` once: when the figure is near, the reader has interacted and the page is idle, or on
 * hover or focus. After a failure the next use tries again.
 * @param {HTMLElement} figure
 * @param {() => Promise<void>} start
 */
export function onFirstUse(figure, start) {
  let started = false;
  const begin = () => {
    if (started) return; // touched while the page was still busy
    started = true;
    observer.disconnect();
    start().catch(() => {
      figure.setAttribute("data-chart", "static");
      started = false;
    });
  };
  const observer = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting)) firstInteraction.then(() => whenIdle(begin));
    },
    { rootMargin: "100% 0px" },
  );
  if (!(/** @type {any} */ (navigator).connection?.saveData)) observer.observe(figure);
  figure.addEventListener("pointerenter", begin);
  figure.addEventListener("focusin", begin);
}
