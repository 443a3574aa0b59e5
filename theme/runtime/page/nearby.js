/** Which figures are near the window: they follow every change at once, the others in a pause. */

import { all } from "./dom.js";

/** @type {WeakSet<Element>} */
const near = new WeakSet();

export function watchFigures() {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) near.add(target);
        else near.delete(target);
      }
    },
    { rootMargin: "5% 0px" },
  );
  for (const figure of all("figure[data-output]")) observer.observe(figure);
}

/** @param {Element} place anything but a figure is always near */
export function isNear(place) {
  return near.has(place) || !place.matches("figure");
}
