/** What a player draws over a timeline: what is still to come pale, a pinned run, what waits. */

import { TICK_CHAR, axisName, share } from "../charts/frame.js";
import { outline, through } from "../charts/layer.js";
import { picture } from "../charts/picture.js";
import { CURVE, rowsOf } from "../charts/timeline.js";

export const PATHS = [
  "veil", "ghost", "ghost-end", "linked", "chain", "chosen", "brush", "cursor",
];
const NARROW = 0.02; // shares of the width
const AWAY = 14; // pixels between two texts of one row
const AROUND = 2; // pixels that a pinned span's outline stands out

/** @typedef {import("../charts/frame.js").Picture} Picture */

/** The last end of a span. @param {any} view @returns {{at: number, text: string}} */
export function endOf(view) {
  const last = view.spans.reduce((best, one, i) => (one.end > view.spans[best].end ? i : best), 0);
  return view.spans.length ? { at: view.spans[last].end, text: view.player.times[last][1] }
    : { at: view.axis.high, text: "" };
}

/** @param {ReturnType<typeof import("../charts/layer.js").createLayer>} layer */
export function createOver(layer) {
  /** The bars and the curves, from x = 0 on; `time` lets them begin later. */
  function veil(view, { frame }) {
    const { row, top, bar } = rowsOf(view), count = view.lanes.length;
    const bars = view.lanes.map((_, i) => outline(0, 1, i * row + top, i * row + top + bar));
    const curves = count * row < frame.height ? outline(0, 1, frame.height - CURVE, frame.height - 1) : "";
    layer.draw("veil", bars.join("") + curves);
  }

  /** @param {number} x share of the width @param {boolean} over whether the run is over */
  function time(x, over, { frame }) {
    layer.begin("veil", over ? 1 : Math.min(Math.max(x, 0), 1));
    const hidden = over || x < 0 || x > 1;
    layer.draw("cursor", hidden ? "" : through([[x, 0], [x, frame.height]]));
  }

  /** @param {any} pinned or null @param {any} view drawn now @param {string} label at its end */
  function ghost(pinned, view, { frame }, label) {
    const lanes = new Set(view.lanes.map(({ key }) => key));
    const spans = pinned?.spans.filter((one) => lanes.has(one.lane)) ?? [];
    const { boxes } = picture({ ...view, spans });
    layer.draw("ghost", joined(boxes.filter((b) => b.x1 > b.x0))
      .map((b) => outline(b.x0, b.x1, b.y0 - AROUND, b.y1 + AROUND)).join(""));
    const x = pinned ? share(view.axis, endOf(pinned).at) : -1, seen = x >= 0 && x <= 1;
    layer.draw("ghost-end", seen ? through([[x, -frame.top], [x, frame.height]]) : "");
    // In the row of the axis' name, which stands at the right end: left of it.
    const late = x > 0.5, name = axisName(view.axis).length * TICK_CHAR;
    const [align, dx] = late ? ["end", -name - AWAY] : ["start", 6];
    layer.write("ghost-label", seen ? label : "", x, frame.height + 41, align, dx);
  }

  /** Spans, each joined to the one it let start. @param {number[]} spans the last one first */
  function chain(spans, { boxes }) {
    const found = spans.map((index) => boxes[index]), middle = (box) => (box.y0 + box.y1) / 2;
    const joints = found.slice(1).map((box, i) => through([
      [box.x1, middle(box)], [found[i].x0, middle(found[i])]]));
    const around = found.filter((b) => b.x1 > b.x0).map((b) => outline(b.x0, b.x1, b.y0, b.y1));
    layer.draw("chain", [...around, ...joints].join(""));
  }

  function brush(from, to, { frame }) {
    const [x0, x1] = [from, to].map((x) => Math.min(Math.max(x, 0), 1)).sort((a, b) => a - b);
    layer.draw("brush", x1 > x0 ? outline(x0, x1, 0, frame.height) : "");
  }

  return { veil, time, ghost, chain, brush };
}

/** Narrow boxes that touch are outlined as one. @param {import("../charts/frame.js").Box[]} boxes */
function joined(boxes) {
  const found = [];
  for (const box of [...boxes].sort((a, b) => a.y0 - b.y0 || a.x0 - b.x0)) {
    const last = found[found.length - 1];
    const touches = last && last.y0 === box.y0 && box.x0 - last.x1 < 1e-6;
    if (touches && Math.min(box.x1 - box.x0, last.narrowest) < NARROW) {
      last.x1 = Math.max(last.x1, box.x1);
    } else {
      found.push({ ...box, narrowest: box.x1 - box.x0 });
    }
  }
  return found;
}
