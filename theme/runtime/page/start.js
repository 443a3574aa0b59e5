/** When to start the engine: when the page is idle and a calculator is near, or at the first touch. */

import { target } from "./dom.js";

/** Reading a receipt is no touch: it needs no engine. */
export const CONTROLS = "input[data-of], select[data-of], textarea[data-of], [data-file]";

/**
 * @param {Element[]} places where the calculators are
 * @param {() => void} start called once
 * @param {boolean} now the address or a switch already asks for something else than the defaults
 */
export function startWhenWanted(places, start, now) {
  let started = false;
  const stop = new AbortController();

  function begin() {
    if (started) return;
    started = true;
    stop.abort();
    start();
  }

  if (now) {
    begin();
    return;
  }
  for (const kind of ["pointerdown", "focusin", "input"]) {
    const touch = (/** @type {Event} */ event) => target(event, CONTROLS) && begin();
    document.addEventListener(kind, touch, { signal: stop.signal, passive: true });
  }
  // @ts-ignore: not in every browser
  if (navigator.connection?.saveData) return;
  whenLoaded(() => whenNear(places, () => whenIdle(begin), stop.signal));
}

/** @param {() => void} next */
export function whenLoaded(next) {
  if (document.readyState === "complete") next();
  else addEventListener("load", next, { once: true });
}

/** @param {() => void} next */
export function whenIdle(next) {
  if ("requestIdleCallback" in window) requestIdleCallback(next, { timeout: 2000 });
  else setTimeout(next, 200);
}

/** @param {Element[]} places @param {() => void} next @param {AbortSignal} [signal] */
export function whenNear(places, next, signal) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      next();
    },
    { rootMargin: "100% 0px" },
  );
  for (const place of places) observer.observe(place);
  signal?.addEventListener("abort", () => observer.disconnect());
}

/**
 * The reader has moved, scrolled or pressed something. What draws live charts takes a slow phone
 * more than a second; whoever only reads the first screen never pays for it. Chromium reports a
 * pointer that rests where the page appears as one that moves, by nothing.
 */
export const arrived = new Promise((resolve) => {
  for (const sign of ["pointermove", "pointerdown", "touchstart", "wheel", "scroll", "keydown"]) {
    const notice = (/** @type {any} */ at) => {
      if (sign !== "pointermove" || at.movementX || at.movementY) resolve(sign);
    };
    addEventListener(sign, notice, { passive: true });
  }
});
