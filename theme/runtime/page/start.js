/** Start conditions: page loaded, idle, element near the window, first interaction. */

import { closestTarget } from "./dom.js";

/** Controls that start the engine; a receipt needs none. */
export const CONTROL_SELECTOR = "input[data-of], select[data-of], textarea[data-of], [data-file]";

/**
 * @param {Element[]} elements of the calculators
 * @param {() => void} start called once
 * @param {boolean} immediately whether the URL or a switch already differs from the defaults
 */
export function startOnFirstUse(elements, start, immediately) {
  let started = false;
  const controller = new AbortController();

  function begin() {
    if (started) return;
    started = true;
    controller.abort();
    start();
  }

  if (immediately) {
    begin();
    return;
  }
  for (const eventType of ["pointerdown", "focusin", "input"]) {
    const touch = (/** @type {Event} */ event) => closestTarget(event, CONTROL_SELECTOR) && begin();
    document.addEventListener(eventType, touch, { signal: controller.signal, passive: true });
  }
  // @ts-ignore: not in every browser
  if (navigator.connection?.saveData) return;
  whenLoaded(() => whenNear(elements, () => whenIdle(begin), controller.signal));
}

/** @param {() => void} task */
export function whenLoaded(task) {
  if (document.readyState === "complete") task();
  else addEventListener("load", task, { once: true });
}

/** @param {() => void} task */
export function whenIdle(task) {
  if ("requestIdleCallback" in window) requestIdleCallback(task, { timeout: 2000 });
  else setTimeout(task, 200);
}

/** @param {Element[]} elements @param {() => void} task @param {AbortSignal} [signal] */
export function whenNear(elements, task, signal) {
  const observer = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      task();
    },
    { rootMargin: "100% 0px" },
  );
  for (const element of elements) observer.observe(element);
  signal?.addEventListener("abort", () => observer.disconnect());
}

/**
 * Resolves at the first interaction (pointer, wheel, scroll, key). What draws live charts takes a slow phone
 * more than a second; whoever only reads the first screen never pays for it. Chromium reports a
 * pointer that rests where the page appears as one that moves, by nothing.
 */
export const firstInteraction = new Promise((resolve) => {
  for (const eventType of ["pointermove", "pointerdown", "touchstart", "wheel", "scroll", "keydown"]) {
    const onEvent = (/** @type {any} */ event) => {
      if (eventType !== "pointermove" || event.movementX || event.movementY) resolve(eventType);
    };
    addEventListener(eventType, onEvent, { passive: true });
  }
});
