/** Grips on a timeline: places that are dragged, or moved by arrow keys, to change an input. */

import { setAttribute } from "../page/dom.js";
import { axisFraction, isInside } from "./frame.js";
import { laneLayout } from "./timeline.js";

/** @param {HTMLElement} figure */
export function createTimelineHandles(figure) {
  const plot = /** @type {HTMLElement} */ (figure.querySelector("[data-plot]"));
  const layer = document.createElement("div");
  layer.className = "grips";
  plot.append(layer);
  /** @type {Map<string, HTMLElement>} */
  const handles = new Map();

  /** @param {string} input */
  function handleOf(input) {
    const handle = handles.get(input) ?? document.createElement("span");
    if (!handles.has(input)) {
      handles.set(input, handle);
      Object.assign(handle.dataset, { grip: input, gripKey: input, move: "1" });
      Object.assign(handle, { tabIndex: 0, role: "slider" });
      layer.append(handle);
    }
    return handle;
  }

  /** Puts the grips where the drawn view has them. @param {any} view @param {import("./frame.js").Frame} frame */
  return (view, { left, right, top, height }) => {
    const rows = laneLayout(view), { low, high } = view.axis, grips = view.grips ?? [];
    Object.assign(layer.style, { left: `${left}px`, right: `${right}px`, top: `${top}px`, height: `${height}px` });
    for (const { input, lane, at, notch, label, text } of grips) {
      const handle = handleOf(input), x = axisFraction(view.axis, at);
      const y = rows.row * view.lanes.findIndex(({ key }) => key === lane) + rows.top;
      Object.assign(handle.style, { left: `${100 * x}%`, top: `${y}px`, height: `${rows.bar}px` });
      const values = { label, valuenow: at, valuemin: Math.min(low, at), valuemax: Math.max(high, at), valuetext: text };
      for (const [name, value] of Object.entries(values)) setAttribute(handle, `aria-${name}`, String(value));
      setAttribute(handle, "data-notch", String(notch / (high - low)));
      handle.hidden = !isInside(x);
    }
    for (const [input, handle] of handles) handle.hidden ||= !grips.some((grip) => grip.input === input);
  };
}
