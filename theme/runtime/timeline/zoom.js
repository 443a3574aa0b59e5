/** Zoom of a timeline: part of its axis, with ticks among those of the view. */

import { queryAll } from "../page/dom.js";

const MAX_TICKS = 8, MIN_TICKS = 3; // ticks
const ZOOM_FACTOR = 2; // as large with each step
const MIN_DRAG = 8; // pixels that are a drag

/** The axis from `low` to `high`. @param {any} axis @param {[number, string][]} finer */
export function zoomAxis(axis, finer, [low, high]) {
  const ticksInside = (ticks) => ticks.filter(([at]) => at >= low && at <= high);
  const coarseTicks = ticksInside(axis.ticks);
  return { ...axis, low, high, ticks: coarseTicks.length >= MIN_TICKS ? coarseTicks : thinTicks(ticksInside(finer), finer) };
}

/** At most `MOST` of the ticks, chosen by their place among all, so that they stay while it moves. */
function thinTicks(ticks, allTicks) {
  const stride = Math.ceil(ticks.length / MAX_TICKS) || 1;
  return ticks.filter((tick) => allTicks.indexOf(tick) % stride === 0);
}

/**
 * Listens to zoom buttons, plus and minus, and a mouse drag across the picture.
 * @param {HTMLElement} figure
 * @param {{axis: () => any, frame: () => import("../charts/frame.js").Frame,
 *   brush: (from: number, to: number) => void, setRange: (range: [number, number] | null) => void,
 *   zoomBy: (times: number) => void}} parts  `brush` is told shares of the width
 */
export function listenToZoom(figure, { axis, frame, brush, setRange, zoomBy }) {
  const plot = /** @type {HTMLElement} */ (figure.querySelector("[data-plot]"));
  for (const button of queryAll("[data-zoom]", figure)) {
    button.addEventListener("click", () => zoomBy(ZOOM_FACTOR));
  }
  for (const button of queryAll("[data-whole]", figure)) button.addEventListener("click", () => setRange(null));
  plot.addEventListener("keydown", ({ key }) => {
    const times = { "+": ZOOM_FACTOR, "=": ZOOM_FACTOR, "-": 1 / ZOOM_FACTOR }[key];
    if (times) zoomBy(times);
  });

  const fractionAt = ({ clientX }) => {
    const plotBox = plot.getBoundingClientRect(), { left, right } = frame();
    return (clientX - plotBox.left - left) / (plotBox.width - left - right);
  };
  let dragStart = /** @type {PointerEvent | null} */ (null);
  let wasDragged = false;
  plot.addEventListener("pointerdown", (event) => {
    wasDragged = false;
    const element = /** @type {Element} */ (event.target);
    if (event.pointerType === "mouse" && event.button === 0 && !element.matches("input, [data-grip]")) dragStart = event;
  });
  addEventListener("pointermove", (event) => {
    if (!dragStart) return;
    wasDragged ||= Math.abs(event.clientX - dragStart.clientX) >= MIN_DRAG;
    if (wasDragged) brush(fractionAt(dragStart), fractionAt(event));
  });
  addEventListener("pointerup", (event) => {
    if (dragStart && wasDragged) {
      brush(0, 0);
      const { low, high } = axis(), ends = [fractionAt(dragStart), fractionAt(event)].sort((a, b) => a - b);
      const [first, last] = ends.map((x) => low + Math.min(Math.max(x, 0), 1) * (high - low));
      if (last > first) setRange([first, last]);
    }
    dragStart = null;
  });
  // The click that ends a drag chooses nothing.
  plot.addEventListener("click", (event) => {
    if (wasDragged) event.stopImmediatePropagation();
    wasDragged = false;
  }, { capture: true });
}
