// Curves over a common axis, as marks.

import {
  axisName, baseLine, inside, line, longest, othersOf, share, TICK_CHAR, TYPICAL, words, xAxis,
} from "./frame.js";
import { DOTS, keysAbove } from "./keys.js";
import { besideCurve, besidePoint, besideRule } from "./beside.js";
import { cut as cutAround } from "./cut.js";
import { place } from "./place.js";

const LINES = { left: 88, right: 14, top: 30, bottom: 46, height: 250 };
const H = LINES.height;
const HANDLE = 8; // dots of a curve that a text would rather cover than one of the handle
const FAR = 16, BESIDE = 9; // pixels from a point to a label that is tied to it, and to its side at most
const RING = 7; // pixels of a point's ring
// Curves, and letters of their names: the names of more, or of as many long ones, would run into one another.
const MANY = 4, LETTERS = 50;

/** @returns {import("./frame.js").Picture} */
export function lines(view) {
  const letters = view.series.map((s) => s.label).join("").length;
  const many = view.series.length > MANY || (view.series.length === MANY && letters > LETTERS);
  const keyed = many || view.series.some((s) => s.dots) ? view.series : [];
  const keys = keyed.map((s) => [s.label, s.color, lookOf(s)]);
  const sides = { left: marginOf(view.y), right: LINES.right };
  const { top, wideTop, swatches, names } = keysAbove(keys, LINES.top, TYPICAL, sides);
  const spot = (x, y) => [share(view.x, x), H * (1 - share(view.y, y))];
  const pieces = view.series.map(({ key, dots }) => {
    const { x, y } = view.columns[key];
    return dots ? [] : clip(x.map((value, i) => spot(value, y[i])));
  });
  const scattered = view.series.filter((s) => s.dots).flatMap((s) => scatter(s, view.columns[s.key], spot));
  const rules = view.rules
    .map((rule) => [rule, ruleAt(view, rule)])
    .filter(([rule, at]) => at >= 0 && at <= (rule.axis === "x" ? 1 : H));
  const spots = view.points
    .map((point) => [point, ...spot(point.x, point.y)])
    .filter(([, x, y]) => x >= 0 && x <= 1 && y >= 0 && y <= H);
  const named = pieces.map((all, i) => [view.series[i], all, othersOf(pieces, i)])
    .filter(([s, all]) => all.length && !keyed.length && s.label);
  const ruled = rules.filter(([rule]) => rule.label), marked = spots.filter(([point]) => point.label);
  const wishes = [
    ...ruled.map(([r, at]) => besideRule(r.axis, at, H, r.label, r.color)),
    ...marked.map(([p, x, y]) => besidePoint(x, y, p.label, p.color)),
    ...named.map(([s, all, others]) => besideCurve(longest(all), others, s.label, s.color)),
  ];
  const frame = { ...LINES, ...sides, top, wideTop };
  const yAxis = yAxisOf(view.y, frame.left), { marks, texts } = xAxis(view.x, frame);
  const drops = view.handle ? spots.slice(0, 1) : [];
  const dropped = drops.map(([p, x, y]) => line([[x, y], [x, H]], p.color, "drop"));
  const flat = rules.filter(([r]) => r.axis === "y").map(([r, at]) => line([[0, at], [1, at]], r.color, "rule"));
  const upright = rules.filter(([r]) => r.axis === "x");
  const places = place(wishes, {
    curves: [...pieces.flat(), ...flat.map((one) => one.points)],
    uprights: [...upright.map(([, x]) => [[x, 0], [x, H]]), ...dropped.map((one) => one.points)],
    knobs: [
      ...scattered.map(({ x, y }) => ({ x, y, wide: 3, high: 3, named: false })),
      ...spots.map(([p, x, y]) => ({ x, y, wide: 5, high: 5, named: Boolean(p.label) })),
      // The handle at a drop's foot: no text may hide behind it or touch it.
      ...drops.map(([, x]) => ({ x, y: H - 7, wide: 12, high: 3, named: false, weight: HANDLE })),
    ],
    texts: [yAxis.texts[0], ...names],
  }, frame);
  const placed = places.flat();
  const tied = marked.flatMap(([p, x, y], i) => places[ruled.length + i].flatMap((one) => (
    tie(one, x, y, p.color, drops.some(([dropped]) => dropped === p)))));
  // A rule reaches up to its label where that is above the frame.
  const tops = new Map(ruled.map(([rule], i) => [rule, Math.min(0, ...places[i].map(({ y }) => y - 11))]));
  const standing = upright.map(([r, x]) => line([[x, tops.get(r) ?? 0], [x, H]], r.color, "rule"));
  return {
    frame,
    back: [...yAxis.grid, baseLine(LINES)],
    boxes: [],
    curves: view.series.flatMap((s, i) =>
      pieces[i].map((piece) => line(piece, s.color, lookOf(s)))),
    front: [
      ...marks,
      ...swatches,
      ...flat,
      ...[...standing, ...dropped, ...tied].flatMap((one) => cutAround(one, placed, frame)),
    ],
    rings: [...scattered, ...spots.map(([p, x, y]) => ({ x, y, color: p.color }))],
    words: [...yAxis.texts, ...texts, ...names, ...placed],
  };
}

/** The dots between a point and its label, where that is far above or below it. */
function tie(one, x, y, color, dropped) {
  const { y: foot, dx, align, wide, narrow } = one, above = foot < y;
  const gap = above ? y - foot - 4 : foot - 12 - y;
  if (gap < FAR || Math.abs(dx) > BESIDE && !covers(one) || (dropped && !above)) return [];
  const beside = align !== "middle" && !covers(one);
  const end = beside ? foot - 4 : above ? foot + 5 : foot - 12;
  const points = above ? [[x, end], [x, y - RING]] : [[x, y + RING], [x, end]];
  return [{ ...line(points, color, "drop"), wide, narrow }];
}

/** Whether a label stands right over or under its point. */
function covers({ align, dx }) {
  return align === "start" ? dx < 0 : align === "end" ? dx > 0 : true;
}

function lookOf({ dashed, dots }) {
  return dots ? (dashed ? "hollow" : "dot") : dashed ? "dashed" : "curve";
}

/** Measurements as small marks, those inside of the frame. */
function scatter({ color, ...series }, { x, y }, spot) {
  return x.map((value, i) => spot(value, y[i]))
    .filter(([x, y]) => inside(x) && inside(y / H))
    .map(([x, y]) => ({ x, y, color, small: true, filled: DOTS[lookOf(series)] }));
}

function ruleAt(view, rule) {
  return rule.axis === "x" ? share(view.x, rule.at) : H * (1 - share(view.y, rule.at));
}

/** Pixels left of the frame: all curves of a page begin at the same place, but no text is cut. */
function marginOf(axis) {
  const longestText = Math.max(0, ...axis.ticks.map(([, text]) => text.length));
  return Math.max(LINES.left, Math.ceil(TICK_CHAR * longestText) + 8);
}

function yAxisOf(axis, left) {
  const grid = [], texts = [words(0, -15, axisName(axis), "start", -left, "muted", "tick")];
  for (const [value, text] of axis.ticks) {
    const y = H * (1 - share(axis, value));
    if (!inside(y / H)) continue;
    const at = Math.min(Math.floor(y) + 0.5, H - 0.5); // a hairline on whole pixels
    grid.push(line([[0, at], [1, at]], "hairline", "grid"));
    texts.push(words(0, y + 4.5, text, "end", -6, "muted", "tick"));
  }
  return { grid, texts };
}

/** The parts of a polyline inside the frame; a NaN interrupts it. */
function clip(all) {
  const points = all.map(([x, y]) => [atEdge(x, 1), atEdge(y, H)]), pieces = [];
  let piece = [];
  for (let k = 1; k < points.length; k++) {
    const part = cut(points[k - 1], points[k]);
    const last = piece[piece.length - 1];
    if (last && (!part || last[0] !== part[0][0] || last[1] !== part[0][1])) {
      pieces.push(piece);
      piece = [];
    }
    if (part) piece.push(...(piece.length ? part.slice(1) : part));
  }
  return piece.length ? [...pieces, piece] : pieces;
}

/** The edge that a coordinate misses by its last bits only, else the coordinate. */
function atEdge(at, high) {
  return [0, high].find((edge) => Math.abs(at - edge) < 1e-9) ?? at;
}

/** The part of a straight line inside the frame (Liang and Barsky 1984). */
function cut(start, end) {
  if (![...start, ...end].every(Number.isFinite)) return null;
  let first = 0, last = 1;
  for (const [a, b, high] of [[start[0], end[0], 1], [start[1], end[1], H]]) {
    const step = b - a;
    if (step === 0) {
      if (a < 0 || a > high) return null;
      continue;
    }
    const ends = [-a / step, (high - a) / step];
    first = Math.max(first, Math.min(...ends));
    last = Math.min(last, Math.max(...ends));
  }
  return first > last ? null : [between(start, end, first), between(start, end, last)];
}

function between(start, end, part) {
  if (part === 0 || part === 1) return part ? end : start;
  return [start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part];
}
