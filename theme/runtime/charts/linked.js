/** A chart whose marks name objects: pointing at one marks it in all views of the page. */

import { picture } from "./picture.js";
import { attachPointing } from "./pointing.js";

/**
 * @param {HTMLElement} figure
 * @param {any} first the view to begin with
 * @param {{draw: (view: any, drawn: any) => void}} chart under the marks
 */
export function createLinked(figure, first, { draw }) {
  const pointing = attachPointing(figure);
  pointing.plot.setAttribute("role", "group");
  let view = first;

  function redraw() {
    const drawn = picture(view);
    draw(view, drawn);
    pointing.show(view, drawn);
    pointing.plot.setAttribute("aria-label", view.title);
  }

  redraw();
  return {
    redraw,
    take(now) {
      view = now;
      redraw();
    },
  };
}
