// Layout of line charts: curves over a common axis.

import {
  axisTitle, baseLine, isInside, lineMark, longestPiece, withoutIndex, axisFraction, TICK_CHAR_WIDTH, PHONE_FRAME,
    textMark, xAxisMarks,
} from "./frame.js";
import { DOT_LOOKS, layoutLegend } from "./legend.js";
import { curveLabelCandidates, pointLabelCandidates, ruleLabelCandidates } from "./label_placement.js";
import { splitAtTexts as cutAround } from "./line_gaps.js";
import { layoutLabels } from "./label_layout.js";

const LINES_FRAME = { left: 88, right: 14, top: 30, bottom: 46, height: 250 };
const HEIGHT = LINES_FRAME.height;
const HANDLE_WEIGHT = 8; // dots of a curve that a text would rather cover than one of the handle
const MIN_TIE = 16, MAX_TIE_OFFSET = 9; // pixels from a point to a label that is tied to it, and to its side at most
const RING_RADIUS = 7; // pixels of a point's ring
// Curves, and letters of their names: the names of more, or of as many long ones, would run into one another.
const MAX_NAMED_CURVES = 4, MAX_NAME_LETTERS = 50;

/** @returns {import("./frame.js").Picture} */
export function layoutLines(view) {
  const letters = view.series.map((s) => s.label).join("").length;
  const hasLegend = view.series.length > MAX_NAMED_CURVES
    || (view.series.length === MAX_NAMED_CURVES && letters > MAX_NAME_LETTERS);
  const legendSeries = hasLegend || view.series.some((s) => s.dots) ? view.series : [];
  const legendEntries = legendSeries.map((s) => [s.label, s.color, seriesLook(s)]);
  const sides = { left: leftMargin(view.y), right: LINES_FRAME.right };
  const { top, wideTop, swatches, names } = layoutLegend(legendEntries, LINES_FRAME.top, PHONE_FRAME, sides);
  const toFrame = (x, y) => [axisFraction(view.x, x), HEIGHT * (1 - axisFraction(view.y, y))];
  const pieces = view.series.map(({ key, dots }) => {
    const { x, y } = view.columns[key];
    return dots ? [] : clipPolyline(x.map((value, i) => toFrame(value, y[i])));
  });
  const dots = view.series.filter((s) => s.dots).flatMap((s) => scatterMarks(s, view.columns[s.key], toFrame));
  const rules = view.rules
    .map((rule) => [rule, rulePosition(view, rule)])
    .filter(([rule, at]) => at >= 0 && at <= (rule.axis === "x" ? 1 : HEIGHT));
  const pointPositions = view.points
    .map((point) => [point, ...toFrame(point.x, point.y)])
    .filter(([, x, y]) => x >= 0 && x <= 1 && y >= 0 && y <= HEIGHT);
  const namedCurves = pieces.map((all, i) => [view.series[i], all, withoutIndex(pieces, i)])
    .filter(([s, all]) => all.length && !legendSeries.length && s.label);
  const labeledRules = rules.filter(([rule]) => rule.label), labeledPoints = pointPositions.filter(([point]) => point.label);
  const candidates = [
    ...labeledRules.map(([r, at]) => ruleLabelCandidates(r.axis, at, HEIGHT, r.label, r.color)),
    ...labeledPoints.map(([p, x, y]) => pointLabelCandidates(x, y, p.label, p.color)),
    ...namedCurves.map(([s, all, others]) => curveLabelCandidates(longestPiece(all), others, s.label, s.color)),
  ];
  const frame = { ...LINES_FRAME, ...sides, top, wideTop };
  const yAxis = yAxisMarks(view.y, frame.left), { marks, texts } = xAxisMarks(view.x, frame);
  const drops = view.handle ? pointPositions.slice(0, 1) : [];
  const dropLines = drops.map(([p, x, y]) => lineMark([[x, y], [x, HEIGHT]], p.color, "drop"));
  const flatRules = rules.filter(([r]) => r.axis === "y").map(([r, at]) => lineMark([[0, at], [1, at]], r.color, "rule"));
  const uprightRules = rules.filter(([r]) => r.axis === "x");
  const labels = layoutLabels(candidates, {
    curves: [...pieces.flat(), ...flatRules.map((mark) => mark.points)],
    uprights: [...uprightRules.map(([, x]) => [[x, 0], [x, HEIGHT]]), ...dropLines.map((mark) => mark.points)],
    knobs: [
      ...dots.map(({ x, y }) => ({ x, y, wide: 3, high: 3, named: false })),
      ...pointPositions.map(([p, x, y]) => ({ x, y, wide: 5, high: 5, named: Boolean(p.label) })),
      // The handle at a drop's foot: no text may hide behind it or touch it.
      ...drops.map(([, x]) => ({ x, y: HEIGHT - 7, wide: 12, high: 3, named: false, weight: HANDLE_WEIGHT })),
    ],
    texts: [yAxis.texts[0], ...names],
  }, frame);
  const placedLabels = labels.flat();
  const tieLines = labeledPoints.flatMap(([p, x, y], i) => labels[labeledRules.length + i].flatMap((mark) => (
    tieLine(mark, x, y, p.color, drops.some(([point]) => point === p)))));
  // A rule reaches up to its label where that is above the frame.
  const ruleTops = new Map(labeledRules.map(([rule], i) => [rule, Math.min(0, ...labels[i].map(({ y }) => y - 11))]));
  const uprightLines = uprightRules.map(([r, x]) => lineMark([[x, ruleTops.get(r) ?? 0], [x, HEIGHT]], r.color, "rule"));
  return {
    frame,
    back: [...yAxis.grid, baseLine(LINES_FRAME)],
    boxes: [],
    curves: view.series.flatMap((s, i) =>
      pieces[i].map((piece) => lineMark(piece, s.color, seriesLook(s)))),
    front: [
      ...marks,
      ...swatches,
      ...flatRules,
      ...[...uprightLines, ...dropLines, ...tieLines].flatMap((mark) => cutAround(mark, placedLabels, frame)),
    ],
    rings: [...dots, ...pointPositions.map(([p, x, y]) => ({ x, y, color: p.color }))],
    words: [...yAxis.texts, ...texts, ...names, ...placedLabels],
  };
}

/** The dots between a point and its label, where that is far above or below it. */
function tieLine(label, x, y, color, hasDrop) {
  const { y: baseline, dx, align, wide, narrow } = label, isAbove = baseline < y;
  const gap = isAbove ? y - baseline - 4 : baseline - 12 - y;
  if (gap < MIN_TIE || Math.abs(dx) > MAX_TIE_OFFSET && !isCentered(label) || (hasDrop && !isAbove)) return [];
  const isBeside = align !== "middle" && !isCentered(label);
  const end = isBeside ? baseline - 4 : isAbove ? baseline + 5 : baseline - 12;
  const points = isAbove ? [[x, end], [x, y - RING_RADIUS]] : [[x, y + RING_RADIUS], [x, end]];
  return [{ ...lineMark(points, color, "drop"), wide, narrow }];
}

/** Whether a label stands right over or under its point. */
function isCentered({ align, dx }) {
  return align === "start" ? dx < 0 : align === "end" ? dx > 0 : true;
}

function seriesLook({ dashed, dots }) {
  return dots ? (dashed ? "hollow" : "dot") : dashed ? "dashed" : "curve";
}

/** Measurements as small marks, those inside of the frame. */
function scatterMarks({ color, ...series }, { x, y }, toFrame) {
  return x.map((value, i) => toFrame(value, y[i]))
    .filter(([x, y]) => isInside(x) && isInside(y / HEIGHT))
    .map(([x, y]) => ({ x, y, color, small: true, filled: DOT_LOOKS[seriesLook(series)] }));
}

function rulePosition(view, rule) {
  return rule.axis === "x" ? axisFraction(view.x, rule.at) : HEIGHT * (1 - axisFraction(view.y, rule.at));
}

/** Pixels left of the frame: all curves of a page begin at the same place, but no text is cut. */
function leftMargin(axis) {
  const longestText = Math.max(0, ...axis.ticks.map(([, text]) => text.length));
  return Math.max(LINES_FRAME.left, Math.ceil(TICK_CHAR_WIDTH * longestText) + 8);
}

function yAxisMarks(axis, left) {
  const grid = [], texts = [textMark(0, -15, axisTitle(axis), "start", -left, "muted", "tick")];
  for (const [value, text] of axis.ticks) {
    const y = HEIGHT * (1 - axisFraction(axis, value));
    if (!isInside(y / HEIGHT)) continue;
    const at = Math.min(Math.floor(y) + 0.5, HEIGHT - 0.5); // a hairline on whole pixels
    grid.push(lineMark([[0, at], [1, at]], "hairline", "grid"));
    texts.push(textMark(0, y + 4.5, text, "end", -6, "muted", "tick"));
  }
  return { grid, texts };
}

/** The parts of a polyline inside the frame; a NaN interrupts it. */
function clipPolyline(polyline) {
  const points = polyline.map(([x, y]) => [snapToEdge(x, 1), snapToEdge(y, HEIGHT)]), pieces = [];
  let piece = [];
  for (let k = 1; k < points.length; k++) {
    const segment = clipSegment(points[k - 1], points[k]);
    const last = piece[piece.length - 1];
    if (last && (!segment || last[0] !== segment[0][0] || last[1] !== segment[0][1])) {
      pieces.push(piece);
      piece = [];
    }
    if (segment) piece.push(...(piece.length ? segment.slice(1) : segment));
  }
  return piece.length ? [...pieces, piece] : pieces;
}

/** The edge that a coordinate misses by its last bits only, else the coordinate. */
function snapToEdge(coordinate, high) {
  return [0, high].find((edge) => Math.abs(coordinate - edge) < 1e-9) ?? coordinate;
}

/** The part of a straight line inside the frame (Liang and Barsky 1984). */
function clipSegment(start, end) {
  if (![...start, ...end].every(Number.isFinite)) return null;
  let first = 0, last = 1;
  for (const [a, b, high] of [[start[0], end[0], 1], [start[1], end[1], HEIGHT]]) {
    const step = b - a;
    if (step === 0) {
      if (a < 0 || a > high) return null;
      continue;
    }
    const ends = [-a / step, (high - a) / step];
    first = Math.max(first, Math.min(...ends));
    last = Math.min(last, Math.max(...ends));
  }
  return first > last ? null : [interpolate(start, end, first), interpolate(start, end, last)];
}

function interpolate(start, end, fraction) {
  if (fraction === 0 || fraction === 1) return fraction ? end : start;
  return [start[0] + (end[0] - start[0]) * fraction, start[1] + (end[1] - start[1]) * fraction];
}
