/** Visibility of figures and blocks: visible ones follow every change at once, the others in a pause. */

import { queryAll } from "./dom.js";

const BLOCKS = "figure, div.view";
/** @type {WeakSet<Element>} */
const visible = new WeakSet();
/** The figure shown somewhere else too. @type {Element | null} */
let pinned = null;

export function observeFigures() {
  const observer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) visible.add(target);
      else visible.delete(target);
    }
  });
  for (const block of queryAll(`:is(${BLOCKS})[data-output]`)) observer.observe(block);
}

/** @param {Element | null} figure that follows every change, wherever it stands */
export function pinFigure(figure) {
  pinned = figure;
}

/** @param {Element} place a number always counts as visible */
export function isVisible(place) {
  return visible.has(place) || place === pinned || !place.matches(BLOCKS);
}
