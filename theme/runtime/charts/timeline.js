// Layout of timelines, spans on lanes over time: a few high lanes with names above, many thin ones beside names.

import {
  CHAR_WIDTH, TICK_CHAR_WIDTH, WIDE, axisTitle, baseLine, clamp, isInside, lineMark, longestPiece, withoutIndex, frameOfRows,
  layoutRules, axisFraction, textMark, xAxisMarks, xGridLines,
} from "./frame.js";
import { curveLabelCandidates } from "./label_placement.js";
import { splitAtTexts } from "./line_gaps.js";
import { layoutLabels } from "./label_layout.js";
import { boxMark } from "./rows.js";

/** Pixels that the curves under the lanes are high. */
export const CURVE_HEIGHT = 110;
const CURVE_GAP = 34, HIGH_LANES = 3, MAX_NAME_LENGTH = 14, NAME_ROW = 13;
// Lanes up to so many, pixels of a lane, of the bar's top in it, of the bar.
const THIN_LANES = [[6, 34, 3, 28], [12, 27, 2, 23], [20, 20, 2, 16], [36, 13, 1, 11], [64, 9, 1, 7]];
const MIN_LENGTH = 1e-9;
const PHONE = 320, CELL_CHAR = 6.6, MIN_NAMED_BAR = 14;

/** @typedef {{row: number, top: number, bar: number, left: number, beside: boolean}} Rows */

/** Returns the sizes of a timeline's lanes. @returns {Rows} */
export function laneLayout(view) {
  const count = view.lanes.length, length = longestLength(view.lanes.map((lane) => lane.label));
  const ticks = longestLength((view.curve_axis?.ticks ?? []).map(([, text]) => text));
  if (count <= HIGH_LANES || (length > MAX_NAME_LENGTH && count <= THIN_LANES[0][0])) {
    return { row: 54, top: 22, bar: 24, left: leftMargin(ticks), beside: false };
  }
  const [, row, top, bar] = THIN_LANES.find(([lanes]) => count <= lanes) ?? THIN_LANES[THIN_LANES.length - 1];
  return { row, top, bar, left: leftMargin(Math.max(Math.min(length, MAX_NAME_LENGTH), ticks)), beside: true };
}

function longestLength(texts) {
  return Math.max(0, ...texts.map((text) => text.length));
}

function leftMargin(characters) {
  return characters ? 8 * Math.ceil((TICK_CHAR_WIDTH * characters + 9) / 8) : 2;
}

/** @returns {import("./frame.js").Picture} */
export function layoutTimeline(view) {
  const rules = view.rules.filter((rule) => isInside(axisFraction(view.axis, rule.at)));
  const rows = laneLayout(view), laneFrame = frameOfRows(view.lanes.length, rows.row, rows.left, 6 + 17 * rules.length);
  const frame = { ...laneFrame, height: laneFrame.height + (view.curve_axis ? CURVE_GAP + CURVE_HEIGHT : 0) };
  const { marks, texts } = xAxisMarks(view.axis, frame);
  const tops = new Map(view.lanes.map((lane, i) => [lane.key, i * rows.row]));
  const boxes = view.spans.map((s) => {
    const [x0, x1] = [s.start, s.end].map((at) => clamp(axisFraction(view.axis, at)));
    const y = tops.get(s.lane) + rows.top;
    const mark = boxMark(x0, x1, y, y + rows.bar, s.color, 1, s.exposed, s.label, s.text);
    return { ...mark, called: s.called };
  });
  const seams = boxes
    .filter((b) => b.x1 - b.x0 > 0.008 && b.x0 > 0 && !b.hatched)
    .map((b) => lineMark([[b.x0, b.y0], [b.x0, b.y1]], "paper", "seam"));
  const { lines, labels } = layoutRules(rules, view.axis, frame), curveMarks = layoutCurves(view, frame, lines);
  const laneBackgrounds = [...tops.values()].map((y) => y + rows.top + rows.bar / 2)
    .map((y) => lineMark([[0, y], [1, y]], "idle", "idle", rows.bar));
  const names = [...laneNames(view.lanes, rows), ...spanNames(boxes, rows)];
  return {
    frame,
    back: [...xGridLines(view.axis, frame), ...laneBackgrounds, ...curveMarks.grid],
    boxes,
    curves: curveMarks.curves,
    front: [...marks, ...seams, ...lines.flatMap((rule) => splitAtTexts(rule, [...names, ...curveMarks.texts], frame))],
    rings: [],
    words: [...texts, ...names, ...curveMarks.texts, ...labels],
  };
}

function laneNames(lanes, { row, top, bar, beside: namesBeside }) {
  if (!namesBeside) return lanes.map((lane, i) => textMark(0, i * row + 15, lane.label));
  const every = Math.ceil(NAME_ROW / row);
  return lanes.flatMap(({ label }, i) => (i % every ? [] : [
    textMark(0, i * row + (top + bar / 2 + 4.5), shortName(label), "end", -8, "ink", "tick")]));
}

function shortName(name) {
  return name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH - 1)}\u2026`;
}

/** The names of the spans that have room for them, on a phone or only on wide pages. */
function spanNames(boxes, { bar, left, beside }) {
  if (bar < MIN_NAMED_BAR) return [];
  const [look, char, edge] = beside ? ["cell", CELL_CHAR, 2] : ["inside", CHAR_WIDTH, 6];
  const middle = bar / 2 + (beside ? 4 : 4.5);
  return boxes.flatMap((b) => {
    const width = b.x1 - b.x0, needed = char * b.label.length + edge, wide = width * PHONE <= needed;
    if (b.hatched || (wide && width * (WIDE - left) <= needed)) return [];
    return [textMark((b.x0 + b.x1) / 2, b.y0 + middle, b.label, "middle", 0, "paper", look, wide)];
  });
}

/** Curves under the lanes: a value holds until the next one. */
function layoutCurves(view, frame, rules) {
  const axis = view.curve_axis;
  if (!axis) return { grid: [], curves: [], texts: [] };
  const top = frame.height - CURVE_HEIGHT, { grid, texts } = yAxisMarks(axis, frame);
  const pieces = view.curves.map((series) => stepPieces(view, series, axis));
  const candidates = view.curves.flatMap((s, i) => (pieces[i].length
    ? [curveLabelCandidates(longestPiece(pieces[i]), withoutIndex(pieces, i), s.label, s.color)] : []));
  const uprights = rules.map(({ points: [[x]] }) => [[x, 0], [x, CURVE_HEIGHT]]);
  const obstacles = { curves: pieces.flat(), uprights, knobs: [], texts: [] };
  const curveLabels = layoutLabels(candidates, obstacles, { ...frame, height: CURVE_HEIGHT }).flat()
    .map((label) => ({ ...label, y: label.y + top }));
  return {
    grid: [...grid, baseLine(frame)],
    curves: view.curves.flatMap((s, i) => pieces[i].map((piece) =>
      lineMark(piece.map(([x, y]) => [x, y + top]), s.color, s.dashed ? "dashed" : "curve"))),
    texts: [...texts, ...curveLabels],
  };
}

function stepPieces(view, { x, y }, axis) {
  const last = view.spans.length ? Math.max(...view.spans.map((span) => span.end)) : view.axis.high;
  const pieces = [[]];
  x.forEach((start, i) => {
    const end = i + 1 < x.length ? x[i + 1] : Math.max(last, start);
    const [x0, x1] = [start, end].map((at) => clamp(axisFraction(view.axis, at))), at = axisFraction(axis, y[i]);
    if (Number.isNaN(at)) pieces.push([]);
    else if (x1 - x0 > MIN_LENGTH) extendPiece(pieces[pieces.length - 1], x0, x1, CURVE_HEIGHT * (1 - clamp(at)));
  });
  return pieces.filter((piece) => piece.length);
}

function extendPiece(piece, x0, x1, y) {
  const isLevel = piece.length && Math.abs(piece[piece.length - 1][1] - y) < MIN_LENGTH;
  piece.push(...(isLevel ? [] : [[x0, y]]), [x1, y]);
}

function yAxisMarks(axis, frame) {
  const top = frame.height - CURVE_HEIGHT, grid = [];
  const texts = [textMark(0, top - 14, axisTitle(axis), "start", -frame.left, "muted", "tick")];
  for (const [value, text] of axis.ticks) {
    const at = axisFraction(axis, value);
    if (!isInside(at)) continue;
    const y = top + CURVE_HEIGHT * (1 - at), whole = Math.min(Math.floor(y) + 0.5, frame.height - 0.5);
    grid.push(lineMark([[0, whole], [1, whole]], "hairline", "grid"));
    texts.push(textMark(0, y + 4.5, text, "end", -6, "muted", "tick"));
  }
  return { grid, texts };
}
