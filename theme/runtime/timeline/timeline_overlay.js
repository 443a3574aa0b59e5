/** Overlay of a timeline player: veil over the future, pinned run, wait chain, cursor. */

import { TICK_CHAR_WIDTH, axisTitle, axisFraction } from "../charts/frame.js";
import { rectanglePath, polylinePath } from "../charts/overlay.js";
import { layoutChart } from "../charts/chart_layout.js";
import { CURVE_HEIGHT, laneLayout } from "../charts/timeline.js";

export const OVERLAY_PATHS = [
  "veil", "ghost", "ghost-end", "linked", "chain", "chosen", "brush", "cursor",
];
const NARROW_WIDTH = 0.02; // shares of the width
const TEXT_GAP = 14; // pixels between two texts of one row
const OUTLINE_GAP = 2; // pixels that a pinned span's outline stands out

/** @typedef {import("../charts/frame.js").Picture} Picture */

/** Returns the last end of a span. @param {any} view @returns {{at: number, text: string}} */
export function runEnd(view) {
  const last = view.spans.reduce((best, span, i) => (span.end > view.spans[best].end ? i : best), 0);
  return view.spans.length ? { at: view.spans[last].end, text: view.player.times[last][1] }
    : { at: view.axis.high, text: "" };
}

/** @param {ReturnType<typeof import("../charts/overlay.js").createOverlay>} overlay */
export function createTimelineOverlay(overlay) {
  /** The bars and the curves, from x = 0 on; `time` lets them begin later. */
  function drawVeil(view, { frame }) {
    const { row, top, bar } = laneLayout(view), count = view.lanes.length;
    const bars = view.lanes.map((_, i) => rectanglePath(0, 1, i * row + top, i * row + top + bar));
    const curves = count * row < frame.height ? rectanglePath(0, 1, frame.height - CURVE_HEIGHT, frame.height - 1) : "";
    overlay.draw("veil", bars.join("") + curves);
  }

  /** @param {number} x share of the width @param {boolean} isOver whether the run is over */
  function drawTime(x, isOver, { frame }) {
    overlay.setStart("veil", isOver ? 1 : Math.min(Math.max(x, 0), 1));
    const isHidden = isOver || x < 0 || x > 1;
    overlay.draw("cursor", isHidden ? "" : polylinePath([[x, 0], [x, frame.height]]));
  }

  /** @param {any} pinned or null @param {any} view drawn now @param {string} label at its end */
  function drawGhost(pinned, view, { frame }, label) {
    const lanes = new Set(view.lanes.map(({ key }) => key));
    const spans = pinned?.spans.filter((span) => lanes.has(span.lane)) ?? [];
    const { boxes } = layoutChart({ ...view, spans });
    overlay.draw("ghost", joinBoxes(boxes.filter((b) => b.x1 > b.x0))
      .map((b) => rectanglePath(b.x0, b.x1, b.y0 - OUTLINE_GAP, b.y1 + OUTLINE_GAP)).join(""));
    const x = pinned ? axisFraction(view.axis, runEnd(pinned).at) : -1, isVisible = x >= 0 && x <= 1;
    overlay.draw("ghost-end", isVisible ? polylinePath([[x, -frame.top], [x, frame.height]]) : "");
    // In the row of the axis' name, which stands at the right end: left of it.
    const isRight = x > 0.5, axisWidth = axisTitle(view.axis).length * TICK_CHAR_WIDTH;
    const [align, dx] = isRight ? ["end", -axisWidth - TEXT_GAP] : ["start", 6];
    overlay.write("ghost-label", isVisible ? label : "", x, frame.height + 41, align, dx);
  }

  /** Spans, each joined to the one it let start. @param {number[]} spans the last one first */
  function drawChain(spans, { boxes }) {
    const chainBoxes = spans.map((index) => boxes[index]), middleOf = (box) => (box.y0 + box.y1) / 2;
    const joints = chainBoxes.slice(1).map((box, i) => polylinePath([
      [box.x1, middleOf(box)], [chainBoxes[i].x0, middleOf(chainBoxes[i])]]));
    const outlines = chainBoxes.filter((b) => b.x1 > b.x0).map((b) => rectanglePath(b.x0, b.x1, b.y0, b.y1));
    overlay.draw("chain", [...outlines, ...joints].join(""));
  }

  function drawBrush(from, to, { frame }) {
    const [x0, x1] = [from, to].map((x) => Math.min(Math.max(x, 0), 1)).sort((a, b) => a - b);
    overlay.draw("brush", x1 > x0 ? rectanglePath(x0, x1, 0, frame.height) : "");
  }

  return { drawVeil, drawTime, drawGhost, drawChain, drawBrush };
}

/** Narrow boxes that touch are outlined as one. @param {import("../charts/frame.js").BoxMark[]} boxes */
function joinBoxes(boxes) {
  const joined = [];
  for (const box of [...boxes].sort((a, b) => a.y0 - b.y0 || a.x0 - b.x0)) {
    const last = joined[joined.length - 1];
    const touches = last && last.y0 === box.y0 && box.x0 - last.x1 < 1e-6;
    if (touches && Math.min(box.x1 - box.x0, last.narrowest) < NARROW_WIDTH) {
      last.x1 = Math.max(last.x1, box.x1);
    } else {
      joined.push({ ...box, narrowest: box.x1 - box.x0 });
    }
  }
  return joined;
}
