// Where an upright line of a chart is cut, so that it does not run through texts.

import { boxOf, chartsOf, isNarrow, wideOf } from "./place.js";

const BESIDE = 4; // pixels between a text and an upright line that is not cut

/** @typedef {import("./frame.js").Words} Words */

/**
 * The parts of an upright line that no text lies on: where a text lies on it on wide charts only, or on
 * narrow ones, it is whole on the others.
 * @template {{points: number[][], wide?: boolean, narrow?: boolean}} T
 * @param {T} line @param {Words[]} texts @param {{left: number, right: number}} frame
 * @returns {T[]}
 */
export function cut(line, texts, frame) {
  const shown = chartsOf(line), on = (charts) => partsBeside(line, gapsIn(line, texts, charts, frame));
  const narrow = shown.filter(isNarrow), wide = shown.filter((chart) => !isNarrow(chart));
  if (!narrow.length || !wide.length) return on(shown);
  const [few, more] = [on(narrow), on(wide)], isIn = (all) => (one) => all.some((other) => alike(one, other));
  return [
    ...few.filter(isIn(more)),
    ...few.filter((one) => !isIn(more)(one)).map((one) => ({ ...one, narrow: true })),
    ...more.filter((one) => !isIn(few)(one)).map((one) => ({ ...one, wide: true })),
  ];
}

/** From where to where texts lie on an upright line, on charts of some widths. */
function gapsIn({ points: [[x], [, bottom]] }, texts, charts, { left, right }) {
  return texts.filter(({ y }) => y < bottom).flatMap((one) => {
    const wide = wideOf(one), shown = chartsOf(one), rooms = charts.filter((chart) => shown.includes(chart))
      .map((chart) => chart - left - right);
    const boxes = rooms.map((room) => [x * room, ...boxOf(one, wide, room)]);
    const struck = boxes.find(([at, start, , end]) => start - BESIDE < at && at < end + BESIDE);
    return struck ? [[struck[2], struck[4]]] : [];
  }).sort(([a], [b]) => a - b);
}

/** What is left of an upright line outside of gaps, which are in order. */
function partsBeside(line, gaps) {
  const [[x, top], [, bottom]] = line.points, parts = [];
  let from = top;
  for (const [start, end] of [...gaps, [bottom, bottom]]) {
    if (start > from) parts.push({ ...line, points: [[x, from], [x, Math.min(start, bottom)]] });
    from = Math.max(from, end);
  }
  return parts;
}

function alike({ points: [[, top], [, bottom]] }, { points: [[, from], [, to]] }) {
  return top === from && bottom === to;
}
