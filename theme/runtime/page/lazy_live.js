/**
 * Lazy loading of the live part: when a calculator is near, at its first use, or at once where the
 * URL or a stored setting differs from the defaults.
 */

import { queryAll, closestTarget } from "./dom.js";
import { readStorage } from "./storage.js";
import { cacheVisitedPage } from "./offline.js";
import { CONTROL_SELECTOR, whenNear } from "./start.js";

/** @typedef {Awaited<ReturnType<typeof import("../live.js").start>>} LiveModule */

/** Elements of calculators and settings; a receipt needs nothing until it is opened. */
const LIVE_SELECTOR = "[data-of], [data-setting], [popovertarget=settings]";
/** Events that are dispatched again after loading, by type. */
const REPLAYED = {
  click: "button:is([data-preset], [data-apply], [data-start], [data-restore], [data-reset], [data-undo])",
  change: "[data-file]",
  focusin: "input[type=text][data-of]",
  input: CONTROL_SELECTOR,
  keydown: "input[data-of]",
};
/** Milliseconds after which a page has been visited, though no figure of it came near. */
const VISIT_TIME = 8000;
/** Tells more than what was built, or hears things of other places. */
const EAGER_SELECTOR = "textarea[data-of], [data-file], [data-job], [data-use-job], [data-tabs], [data-links]";

/** @returns {() => Promise<LiveModule>} loads the live part, once */
export function createLiveLoader() {
  // A receipt alone is that of a finished number, for other inputs than the reader's.
  const liveElements = queryAll("[data-of]:not([data-receipt-for])");
  const waitController = new AbortController();
  /** Events during loading. @type {Event[]} */
  const earlyEvents = [];
  /** A drag of a number during loading: its press, its last move, its release. @type {PointerEvent[]} */
  const earlyDrag = [];
  let touched = false;
  /** @type {Promise<LiveModule> | undefined} */
  let loading;

  async function startLive() {
    cacheVisitedPage();
    const { start } = await import("../live.js");
    const started = await start(liveElements, () => touched || earlyEvents.length > 0);
    waitController.abort();
    for (const event of [...earlyDrag, ...earlyEvents]) {
      (earlyDrag.includes(/** @type {PointerEvent} */ (event)) ? earlyDrag[0] : event).target?.dispatchEvent(new /** @type {any} */ (event.constructor)(event.type, event));
    }
    return started;
  }

  function load() {
    loading ??= startLive();
    loading.catch(() => (loading = undefined)); // the next use tries again
    return loading;
  }

  /** Keeps a drag, whose press would focus its box, in which later drags select text. @param {PointerEvent} event */
  function keepDrag(event) {
    const box = closestTarget(event, "input.drag[data-of]");
    if (event.type === "pointerdown" && box && event.button === 0 && document.activeElement !== box) {
      event.preventDefault();
      earlyDrag.splice(0, 3, event);
    } else if (event.type === "pointermove" && earlyDrag.length && earlyDrag.at(-1)?.type !== "pointerup") {
      earlyDrag.splice(1, 1, event);
    } else if (event.type === "pointerup" && earlyDrag.length) earlyDrag.push(event);
    else if (event.type === "pointercancel") earlyDrag.length = 0;
  }

  for (const eventType of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
    document.addEventListener(eventType, /** @type {any} */ (keepDrag), { signal: waitController.signal, capture: true });
  }
  if (location.search || hasStoredSetting() || document.querySelector(EAGER_SELECTOR)) load();
  else if (liveElements.length) {
    whenNear(liveElements, load, waitController.signal);
    setTimeout(cacheVisitedPage, VISIT_TIME);
  } else cacheVisitedPage();
  for (const eventType of ["pointerdown", "focusin", "click", "input", "change", "keydown"]) {
    document.addEventListener(eventType, (event) => {
      if (!closestTarget(event, LIVE_SELECTOR)) return;
      // As it will be once numbers can be dragged: a click takes the whole number.
      if (eventType === "click") /** @type {any} */ (closestTarget(event, "input.drag[data-of]"))?.select();
      touched ||= closestTarget(event, CONTROL_SELECTOR) !== null;
      if (REPLAYED[eventType] && closestTarget(event, REPLAYED[eventType])) earlyEvents.push(event);
      load();
    }, { signal: waitController.signal, capture: true });
  }
  return load;
}

/** Whether a switch of the page is on, on this device. */
function hasStoredSetting() {
  return queryAll("[data-setting]").some(({ dataset }) => readStorage(dataset.setting ?? "") === "on");
}
