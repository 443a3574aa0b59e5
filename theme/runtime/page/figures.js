/** When a figure comes alive, and the data for it: fetched when it is near, not while reading. */

import { arrived, whenIdle } from "./start.js";

/** @type {Promise<Record<string, any>> | undefined} */
let items;

/** What the builder wrote for this figure. @param {HTMLElement} figure @returns {Promise<any>} */
export async function dataOf(figure) {
  items ??= read("default").catch(() => read("reload"));
  items.catch(() => (items = undefined)); // the next figure tries again
  return (await items)[`${figure.dataset.of}.${figure.dataset.output}`];
}

/** @param {RequestCache} cache @returns {Promise<Record<string, any>>} */
async function read(cache) {
  return (await fetch(document.body.dataset.figures ?? "", { cache })).json();
}

/**
 * Calls `start` once: when the figure is near, the reader has moved and the page is idle, or when
 * the reader touches it. After a failure the next touch tries again.
 * @param {HTMLElement} figure
 * @param {() => Promise<void>} start
 */
export function whenWanted(figure, start) {
  let begun = false;
  const go = () => {
    if (begun) return; // touched while the page was still busy
    begun = true;
    watcher.disconnect();
    start().catch(() => {
      figure.setAttribute("data-chart", "static");
      begun = false;
    });
  };
  const watcher = new IntersectionObserver(
    (entries) => {
      if (entries.some((entry) => entry.isIntersecting)) arrived.then(() => whenIdle(go));
    },
    { rootMargin: "100% 0px" },
  );
  if (!(/** @type {any} */ (navigator).connection?.saveData)) watcher.observe(figure);
  figure.addEventListener("pointerenter", go);
  figure.addEventListener("focusin", go);
}
