// Spans on lanes over time, as marks: a few high lanes with names above, many thin ones beside names.

import {
  CHAR, TICK_CHAR, WIDE, axisName, baseLine, clamp, inside, line, longest, othersOf, rowsFrame,
  rulesAbove, share, words, xAxis, xGrid,
} from "./frame.js";
import { besideCurve } from "./beside.js";
import { cut } from "./cut.js";
import { place } from "./place.js";
import { box } from "./rows.js";

/** Pixels that the curves under the lanes are high. */
export const CURVE = 110;
const GAP = 34, HIGH_LANES = 3, LONGEST = 14, NAME_ROW = 13;
// Lanes up to so many, pixels of a lane, of the bar's top in it, of the bar.
const THIN = [[6, 34, 3, 28], [12, 27, 2, 23], [20, 20, 2, 16], [36, 13, 1, 11], [64, 9, 1, 7]];
const SHORTEST = 1e-9;
const PHONE = 320, CELL_CHAR = 6.6, LEAST_BAR = 14;

/** @typedef {{row: number, top: number, bar: number, left: number, beside: boolean}} Rows */

/** How the lanes of a timeline are drawn. @returns {Rows} */
export function rowsOf(view) {
  const count = view.lanes.length, length = most(view.lanes.map((lane) => lane.label));
  const ticks = most((view.curve_axis?.ticks ?? []).map(([, text]) => text));
  if (count <= HIGH_LANES || (length > LONGEST && count <= THIN[0][0])) {
    return { row: 54, top: 22, bar: 24, left: margin(ticks), beside: false };
  }
  const [, row, top, bar] = THIN.find(([lanes]) => count <= lanes) ?? THIN[THIN.length - 1];
  return { row, top, bar, left: margin(Math.max(Math.min(length, LONGEST), ticks)), beside: true };
}

function most(texts) {
  return Math.max(0, ...texts.map((text) => text.length));
}

function margin(characters) {
  return characters ? 8 * Math.ceil((TICK_CHAR * characters + 9) / 8) : 2;
}

/** @returns {import("./frame.js").Picture} */
export function timeline(view) {
  const rules = view.rules.filter((rule) => inside(share(view.axis, rule.at)));
  const rows = rowsOf(view), tall = rowsFrame(view.lanes.length, rows.row, rows.left, 6 + 17 * rules.length);
  const frame = { ...tall, height: tall.height + (view.curve_axis ? GAP + CURVE : 0) };
  const { marks, texts } = xAxis(view.axis, frame);
  const tops = new Map(view.lanes.map((lane, i) => [lane.key, i * rows.row]));
  const boxes = view.spans.map((s) => {
    const [x0, x1] = [s.start, s.end].map((at) => clamp(share(view.axis, at)));
    const y = tops.get(s.lane) + rows.top;
    const drawn = box(x0, x1, y, y + rows.bar, s.color, 1, s.exposed, s.label, s.text);
    return { ...drawn, called: s.called };
  });
  const seams = boxes
    .filter((b) => b.x1 - b.x0 > 0.008 && b.x0 > 0 && !b.hatched)
    .map((b) => line([[b.x0, b.y0], [b.x0, b.y1]], "paper", "seam"));
  const { lines, labels } = rulesAbove(rules, view.axis, frame), under = curves(view, frame, lines);
  const beds = [...tops.values()].map((y) => y + rows.top + rows.bar / 2)
    .map((y) => line([[0, y], [1, y]], "idle", "idle", rows.bar));
  const names = [...laneNames(view.lanes, rows), ...spanNames(boxes, rows)];
  return {
    frame,
    back: [...xGrid(view.axis, frame), ...beds, ...under.grid],
    boxes,
    curves: under.curves,
    front: [...marks, ...seams, ...lines.flatMap((one) => cut(one, [...names, ...under.texts], frame))],
    rings: [],
    words: [...texts, ...names, ...under.texts, ...labels],
  };
}

function laneNames(lanes, { row, top, bar, beside }) {
  if (!beside) return lanes.map((lane, i) => words(0, i * row + 15, lane.label));
  const every = Math.ceil(NAME_ROW / row);
  return lanes.flatMap(({ label }, i) => (i % every ? [] : [
    words(0, i * row + (top + bar / 2 + 4.5), short(label), "end", -8, "ink", "tick")]));
}

function short(name) {
  return name.length <= LONGEST ? name : `${name.slice(0, LONGEST - 1)}\u2026`;
}

/** The names of the spans that have room for them, on a phone or only on wide pages. */
function spanNames(boxes, { bar, left, beside }) {
  if (bar < LEAST_BAR) return [];
  const [look, char, edge] = beside ? ["cell", CELL_CHAR, 2] : ["inside", CHAR, 6];
  const middle = bar / 2 + (beside ? 4 : 4.5);
  return boxes.flatMap((b) => {
    const width = b.x1 - b.x0, needed = char * b.label.length + edge, wide = width * PHONE <= needed;
    if (b.hatched || (wide && width * (WIDE - left) <= needed)) return [];
    return [words((b.x0 + b.x1) / 2, b.y0 + middle, b.label, "middle", 0, "paper", look, wide)];
  });
}

/** Curves under the lanes: a value holds until the next one. */
function curves(view, frame, rules) {
  const axis = view.curve_axis;
  if (!axis) return { grid: [], curves: [], texts: [] };
  const top = frame.height - CURVE, { grid, texts } = yAxis(axis, frame);
  const pieces = view.curves.map((series) => steps(view, series, axis));
  const wishes = view.curves.flatMap((s, i) => (pieces[i].length
    ? [besideCurve(longest(pieces[i]), othersOf(pieces, i), s.label, s.color)] : []));
  const uprights = rules.map(({ points: [[x]] }) => [[x, 0], [x, CURVE]]);
  const obstacles = { curves: pieces.flat(), uprights, knobs: [], texts: [] };
  const named = place(wishes, obstacles, { ...frame, height: CURVE }).flat().map((one) => ({ ...one, y: one.y + top }));
  return {
    grid: [...grid, baseLine(frame)],
    curves: view.curves.flatMap((s, i) => pieces[i].map((piece) =>
      line(piece.map(([x, y]) => [x, y + top]), s.color, s.dashed ? "dashed" : "curve"))),
    texts: [...texts, ...named],
  };
}

function steps(view, { x, y }, axis) {
  const last = view.spans.length ? Math.max(...view.spans.map((span) => span.end)) : view.axis.high;
  const pieces = [[]];
  x.forEach((start, i) => {
    const end = i + 1 < x.length ? x[i + 1] : Math.max(last, start);
    const [x0, x1] = [start, end].map((at) => clamp(share(view.axis, at))), at = share(axis, y[i]);
    if (Number.isNaN(at)) pieces.push([]);
    else if (x1 - x0 > SHORTEST) add(pieces[pieces.length - 1], x0, x1, CURVE * (1 - clamp(at)));
  });
  return pieces.filter((piece) => piece.length);
}

function add(piece, x0, x1, y) {
  const held = piece.length && Math.abs(piece[piece.length - 1][1] - y) < SHORTEST;
  piece.push(...(held ? [] : [[x0, y]]), [x1, y]);
}

function yAxis(axis, frame) {
  const top = frame.height - CURVE, grid = [];
  const texts = [words(0, top - 14, axisName(axis), "start", -frame.left, "muted", "tick")];
  for (const [value, text] of axis.ticks) {
    const at = share(axis, value);
    if (!inside(at)) continue;
    const y = top + CURVE * (1 - at), whole = Math.min(Math.floor(y) + 0.5, frame.height - 0.5);
    grid.push(line([[0, whole], [1, whole]], "hairline", "grid"));
    texts.push(words(0, y + 4.5, text, "end", -6, "muted", "tick"));
  }
  return { grid, texts };
}
