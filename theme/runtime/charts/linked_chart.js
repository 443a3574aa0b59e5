/** Chart whose marks name objects: pointing at one highlights it in all views of the page. */

import { layoutChart } from "./chart_layout.js";
import { attachPointing } from "./pointing.js";

/**
 * @param {HTMLElement} figure
 * @param {any} initialView the view to begin with
 * @param {{draw: (view: any, marks: any) => void}} chart under the marks
 */
export function createLinkedChart(figure, initialView, { draw }) {
  const pointing = attachPointing(figure);
  pointing.plot.setAttribute("role", "group");
  let view = initialView;

  function redraw() {
    const marks = layoutChart(view);
    draw(view, marks);
    pointing.show(view, marks);
    pointing.plot.setAttribute("aria-label", view.title);
  }

  redraw();
  return {
    redraw,
    update(newView) {
      view = newView;
      redraw();
    },
  };
}
