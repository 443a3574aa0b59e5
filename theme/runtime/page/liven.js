/**
 * When what is live is fetched: once a calculator is near, at the first use of one, or where the
 * address or this device already asks for something else than the defaults.
 */

import { all, target } from "./dom.js";
import { kept } from "./kept.js";
import { keepVisited } from "./offline.js";
import { CONTROLS, whenNear } from "./start.js";

/** @typedef {Awaited<ReturnType<typeof import("../live.js").start>>} Live */

/** Of a calculator or of the page's settings; a receipt needs nothing until it is opened. */
const USED = "[data-of], [data-setting], [popovertarget=settings]";
/** What can be done again once somebody listens, and is not done by the browser or others. */
const AGAIN = {
  click: "button:is([data-preset], [data-apply], [data-start], [data-restore], [data-reset], [data-undo])",
  change: "[data-file]",
  focusin: "input[type=text][data-of]",
  input: CONTROLS,
  keydown: "input[data-of]",
};
/** Milliseconds after which a page has been visited, though no figure of it came near. */
const VISITED = 8000;
/** Tells more than what was built, or hears things of other places. */
const EAGER = "textarea[data-of], [data-file], [data-job], [data-use-job], [data-tabs], [data-links]";

/** @returns {() => Promise<Live>} fetches what is live, once */
export function whenLive() {
  // A receipt alone is that of a finished number, for other inputs than the reader's.
  const live = all("[data-of]:not([data-receipt-for])");
  const waiting = new AbortController();
  /** What the reader did meanwhile. @type {Event[]} */
  const early = [];
  let touched = false;
  /** @type {Promise<Live> | undefined} */
  let fetched;

  async function bring() {
    keepVisited();
    const { start } = await import("../live.js");
    const started = await start(live, () => touched || early.length > 0);
    waiting.abort();
    for (const event of early) {
      event.target?.dispatchEvent(new /** @type {any} */ (event.constructor)(event.type, event));
    }
    return started;
  }

  function go() {
    fetched ??= bring();
    fetched.catch(() => (fetched = undefined)); // the next use tries again
    return fetched;
  }

  if (location.search || isSet() || document.querySelector(EAGER)) go();
  else if (live.length) {
    whenNear(live, go, waiting.signal);
    setTimeout(keepVisited, VISITED);
  } else keepVisited();
  for (const kind of ["pointerdown", "focusin", "click", "input", "change", "keydown"]) {
    document.addEventListener(kind, (event) => {
      if (!target(event, USED)) return;
      // As it will be once numbers can be dragged: a click takes the whole number.
      if (kind === "click") /** @type {any} */ (target(event, "input.drag[data-of]"))?.select();
      touched ||= target(event, CONTROLS) !== null;
      if (AGAIN[kind] && target(event, AGAIN[kind])) early.push(event);
      go();
    }, { signal: waiting.signal, capture: true });
  }
  return go;
}

/** Whether a switch of the page is on, on this device. */
function isSet() {
  return all("[data-setting]").some(({ dataset }) => kept(dataset.setting ?? "") === "on");
}
