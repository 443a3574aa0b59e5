/** Charts come alive when they are near and the page is idle, or at the first touch of one. */

import * as chart from "./chart.js";
import { all, target } from "./dom.js";
import { whenIdle, whenLoaded } from "./start.js";
import { latestView } from "./views.js";

/** @type {Promise<Record<string, object>> | null} */
let documents = null;
const asked = new WeakSet();

/** @returns {Promise<Record<string, object>>} "calculator.output" -> its document, fetched once */
function fetchDocuments() {
  documents ??= fetch(new URL(document.body.dataset.figures ?? "", document.baseURI)).then(
    (response) => (response.ok ? response.json() : {}),
  ).catch(() => ({}));
  return documents;
}

/** @param {HTMLElement} figure */
async function upgrade(figure) {
  if (asked.has(figure)) return;
  asked.add(figure);
  const item = (await fetchDocuments())[`${figure.dataset.of}.${figure.dataset.output}`];
  if (!item) return;
  await chart.upgrade(figure, item);
  const view = latestView(figure);
  if (view) chart.update(figure, view);
}

export function startFigures() {
  const figures = all("figure.chart");
  if (!figures.length || !document.body.dataset.figures) return;
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => {
      const figure = target(event, "figure.chart");
      if (figure) upgrade(figure);
    }, { passive: true });
  }
  // @ts-ignore: not in every browser
  if (navigator.connection?.saveData) return;
  whenLoaded(() => {
    const observer = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target: figure } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(figure);
        whenIdle(() => upgrade(/** @type {HTMLElement} */ (figure)));
      }
    }, { rootMargin: "150% 0px" });
    for (const figure of figures) observer.observe(figure);
  });
}
