/** Which figures and blocks are in the window: they follow every change at once, the others in a pause. */

import { all } from "./dom.js";

const BLOCKS = "figure, div.view";
/** @type {WeakSet<Element>} */
const near = new WeakSet();

export function watchFigures() {
  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) near.add(target);
      else near.delete(target);
    }
  });
  for (const block of all(`:is(${BLOCKS})[data-output]`)) observer.observe(block);
}

/** @param {Element} place a number is always near: it costs less than to watch it */
export function isNear(place) {
  return near.has(place) || !place.matches(BLOCKS);
}
