/** A part of a timeline's axis, drawn large; its ticks are among those that came with the view. */

import { all } from "../page/dom.js";

const MOST = 8, FEW = 3; // ticks
const TIMES = 2; // as large with each step
const LEAST = 8; // pixels that are a drag

/** The axis from `low` to `high`. @param {any} axis @param {[number, string][]} finer */
export function within(axis, finer, [low, high]) {
  const inside = (ticks) => ticks.filter(([at]) => at >= low && at <= high);
  const coarse = inside(axis.ticks);
  return { ...axis, low, high, ticks: coarse.length >= FEW ? coarse : thinned(inside(finer), finer) };
}

/** At most `MOST` of the ticks, chosen by their place among all, so that they stay while it moves. */
function thinned(ticks, all) {
  const stride = Math.ceil(ticks.length / MOST) || 1;
  return ticks.filter((tick) => all.indexOf(tick) % stride === 0);
}

/**
 * Buttons, plus and minus, and a mouse dragged across the picture.
 * @param {HTMLElement} figure
 * @param {{axis: () => any, frame: () => import("../charts/frame.js").Frame,
 *   brush: (from: number, to: number) => void, look: (range: [number, number] | null) => void,
 *   zoom: (times: number) => void}} parts  `brush` is told shares of the width
 */
export function listenToZoom(figure, { axis, frame, brush, look, zoom }) {
  const plot = /** @type {HTMLElement} */ (figure.querySelector("[data-plot]"));
  for (const button of all("[data-zoom]", figure)) {
    button.addEventListener("click", () => zoom(TIMES));
  }
  for (const button of all("[data-whole]", figure)) button.addEventListener("click", () => look(null));
  plot.addEventListener("keydown", ({ key }) => {
    const times = { "+": TIMES, "=": TIMES, "-": 1 / TIMES }[key];
    if (times) zoom(times);
  });

  const place = ({ clientX }) => {
    const edge = plot.getBoundingClientRect(), { left, right } = frame();
    return (clientX - edge.left - left) / (edge.width - left - right);
  };
  let from = /** @type {PointerEvent | null} */ (null);
  let dragged = false;
  plot.addEventListener("pointerdown", (event) => {
    dragged = false;
    const on = /** @type {Element} */ (event.target);
    if (event.pointerType === "mouse" && event.button === 0 && !on.matches("input")) from = event;
  });
  addEventListener("pointermove", (event) => {
    if (!from) return;
    dragged ||= Math.abs(event.clientX - from.clientX) >= LEAST;
    if (dragged) brush(place(from), place(event));
  });
  addEventListener("pointerup", (event) => {
    if (from && dragged) {
      brush(0, 0);
      const { low, high } = axis(), ends = [place(from), place(event)].sort((a, b) => a - b);
      const [first, last] = ends.map((x) => low + Math.min(Math.max(x, 0), 1) * (high - low));
      if (last > first) look([first, last]);
    }
    from = null;
  });
  // The click that ends a drag chooses nothing.
  plot.addEventListener("click", (event) => {
    if (dragged) event.stopImmediatePropagation();
    dragged = false;
  }, { capture: true });
}
