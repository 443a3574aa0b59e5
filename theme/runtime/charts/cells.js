// Cells of a chart that can be pointed at, in rows, in the coordinates of the marks. A timeline
// with a player has its idle places among them.

import { clamp, axisFraction } from "./frame.js";
import { laneLayout } from "./timeline.js";

const MIN_PAUSE = 0.002; // of the run: a shorter pause is none

/**
 * @typedef {{x0: number, x1: number, index: number, key: string, links: string[], start: number,
 *   end: number}} Cell  `index` of the mark, -1 for an idle place; `start` and `end` on the axis
 * @typedef {{y0: number, y1: number, top: number, bottom: number, links: string[], label: string,
 *   cells: Cell[]}} Row  `top` to `bottom` is the bar, y0 to y1 all of the row
 */

/** @param {any} view of bars or a timeline @returns {Row[]} */
export function cellRows(view) {
  return view.kind === "bars" ? barRows(view) : laneRows(view);
}

function barRows(view) {
  let index = 0;
  return view.bars.map((bar, i) => ({
    y0: 46 * i, y1: 46 * (i + 1), top: 46 * i + 22, bottom: 46 * i + 40,
    links: bar.links ?? [], label: bar.label,
    cells: bar.segments.map((s) => createCell(view.axis, s, index++)),
  }));
}

function laneRows(view) {
  const rows = laneLayout(view);
  const lanes = new Map(view.lanes.map((lane) => [lane.key, []]));
  view.spans.forEach((s, i) => lanes.get(s.lane)?.push(createCell(view.axis, s, i)));
  const last = Math.max(0, ...view.spans.map((s) => s.end));
  return view.lanes.map((lane, i) => {
    const cells = lanes.get(lane.key).sort((a, b) => a.start - b.start), y0 = i * rows.row;
    return {
      y0, y1: y0 + rows.row, top: y0 + rows.top, bottom: y0 + rows.top + rows.bar,
      links: lane.links ?? [], label: lane.label,
      cells: view.player ? addPauses(cells, view.axis, last) : cells,
    };
  });
}

function createCell(axis, { start, end, key = `idle at ${start}`, links = [] }, index) {
  return { x0: clamp(axisFraction(axis, start)), x1: clamp(axisFraction(axis, end)), start, end, key, index, links };
}

function addPauses(cells, axis, last) {
  const withIdle = [], minPause = MIN_PAUSE * last;
  let freeFrom = Math.min(0, cells[0]?.start ?? 0);
  for (const cell of cells) {
    if (cell.start - freeFrom > minPause) withIdle.push(createCell(axis, { start: freeFrom, end: cell.start }, -1));
    withIdle.push(cell);
    freeFrom = Math.max(freeFrom, cell.end);
  }
  if (last - freeFrom > minPause) withIdle.push(createCell(axis, { start: freeFrom, end: last }, -1));
  return withIdle;
}
