// Gaps in upright lines of a chart, so that they do not run through texts.

import { textBox, shownWidths, isNarrow, markWidth } from "./label_layout.js";

const TEXT_GAP = 4; // pixels between a text and an upright line that is not cut

/** @typedef {import("./frame.js").TextMark} TextMark */

/**
 * Returns the segments of an upright line that no text covers: where a text lies on it on wide charts only, or on
 * narrow ones, it is whole on the others.
 * @template {{points: number[][], wide?: boolean, narrow?: boolean}} T
 * @param {T} line @param {TextMark[]} texts @param {{left: number, right: number}} frame
 * @returns {T[]}
 */
export function splitAtTexts(line, texts, frame) {
  const widths = shownWidths(line), segmentsOn = (charts) => segmentsBetween(line, textGaps(line, texts, charts, frame));
  const narrow = widths.filter(isNarrow), wide = widths.filter((chart) => !isNarrow(chart));
  if (!narrow.length || !wide.length) return segmentsOn(widths);
  const [narrowSegments, wideSegments] = [segmentsOn(narrow), segmentsOn(wide)],
    isAmong = (all) => (segment) => all.some((other) => isSameSegment(segment, other));
  return [
    ...narrowSegments.filter(isAmong(wideSegments)),
    ...narrowSegments.filter((segment) => !isAmong(wideSegments)(segment)).map((segment) => ({ ...segment, narrow: true })),
    ...wideSegments.filter((segment) => !isAmong(narrowSegments)(segment)).map((segment) => ({ ...segment, wide: true })),
  ];
}

/** From where to where texts lie on an upright line, on charts of some widths. */
function textGaps({ points: [[x], [, bottom]] }, texts, charts, { left, right }) {
  return texts.filter(({ y }) => y < bottom).flatMap((text) => {
    const textWidth = markWidth(text), textCharts = shownWidths(text),
      frameWidths = charts.filter((chart) => textCharts.includes(chart))
      .map((chart) => chart - left - right);
    const boxes = frameWidths.map((room) => [x * room, ...textBox(text, textWidth, room)]);
    const hit = boxes.find(([at, start, , end]) => start - TEXT_GAP < at && at < end + TEXT_GAP);
    return hit ? [[hit[2], hit[4]]] : [];
  }).sort(([a], [b]) => a - b);
}

/** What is left of an upright line outside of gaps, which are in order. */
function segmentsBetween(line, gaps) {
  const [[x, top], [, bottom]] = line.points, segments = [];
  let segmentStart = top;
  for (const [start, end] of [...gaps, [bottom, bottom]]) {
    if (start > segmentStart) segments.push({ ...line, points: [[x, segmentStart], [x, Math.min(start, bottom)]] });
    segmentStart = Math.max(segmentStart, end);
  }
  return segments;
}

function isSameSegment({ points: [[, top], [, bottom]] }, { points: [[, from], [, to]] }) {
  return top === from && bottom === to;
}
