// Layout of bar charts and heatmaps.

import {
  PHONE, SMALL, WIDE, clamp, isInside, lineMark, frameOfRows, layoutRules, axisFraction, thinTexts, measureTextWidth,
    textMark, xAxisMarks,
  xGridLines,
} from "./frame.js";
import { barValuePosition } from "./label_placement.js";
import { layoutLegend } from "./legend.js";
import { splitAtTexts } from "./line_gaps.js";

/** @typedef {import("./frame.js").Picture} Picture */

const BAR_ROW = 46, CELL_ROW = 34, LEGEND_WIDTH = 320;
const VALUE_GAP = 6; // pixels between a bar or its label and a value beside it
const CELL_TEXT_SCALE = 11 / 13, TICK_TEXT_SCALE = 12 / 13; // sizes over that of a label
const CELL_TEXT_GAP = 6; // pixels between the texts of two cells
// Shares of the accent in a cell: ink is read on the deepest one in both schemes (test_colors.py).
const PALEST = 0.05, DEEPEST = 0.48;

export function boxMark(x0, x1, y0, y1, color, strength = 1, hatched = false, label = "", text = "") {
  return { x0, x1, y0, y1, color, strength, hatched, label, text };
}

/** @returns {Picture} */
export function layoutBars(view) {
  const rules = view.rules.filter((rule) => isInside(axisFraction(view.axis, rule.at)));
  const legendEntries = view.keys.map((key) => [...key, "swatch"]);
  const baseFrame = frameOfRows(view.bars.length, BAR_ROW, 2, 6 + 17 * rules.length);
  const { top, wideTop, swatches, names } = layoutLegend(legendEntries, baseFrame.top, LEGEND_WIDTH, baseFrame),
    frame = { ...baseFrame, top, wideTop };
  const { marks, texts } = xAxisMarks(view.axis, frame);
  const boxes = [], ranges = [], uprights = rules.map((rule) => axisFraction(view.axis, rule.at));
  const [narrow, wide] = [SMALL, WIDE].map((chart) =>
    barValuePosition(uprights, view.bars, chart - frame.left - frame.right));
  view.bars.forEach((bar, row) => {
    const y = row * BAR_ROW, segments = [];
    if (bar.range) ranges.push(...rangeMarks(bar.range.map((at) => clamp(axisFraction(view.axis, at))), y + 31));
    for (const s of bar.segments) {
      const [x0, x1] = [s.start, s.end].map((at) => clamp(axisFraction(view.axis, at)));
      segments.push(boxMark(x0, x1, y + 22, y + 40, s.color, 1, false, s.label, s.text));
    }
    boxes.push(...segments);
    texts.push(textMark(0, y + 15, bar.label));
    const value = ([x, align, dx, down]) => textMark(x, y + down, bar.text, align, dx, "ink", "strong");
    const behindBar = valueBehindBar(bar, Math.max(0, ...segments.map(({ x1 }) => x1)), SMALL - frame.left - frame.right);
    const positions = [behindBar ?? [...narrow, 15], [...wide, 15]], values = positions.map(value);
    texts.push(...(positions[0].join() === positions[1].join() ? [values[0]]
      : [{ ...values[0], narrow: true }, { ...values[1], wide: true }]));
  });
  const { lines, labels } = layoutRules(rules, view.axis, frame);
  return {
    frame,
    back: xGridLines(view.axis, frame),
    boxes,
    curves: [],
    front: [...marks, ...swatches, ...ranges, ...lines.flatMap((rule) => splitAtTexts(rule, texts, frame))],
    rings: [],
    words: [...texts, ...names, ...labels],
  };
}

/**
 * On a phone a value whose row has no room left by the label stands behind the bar, where that fits.
 * @param {{label: string, text: string}} bar @param {number} end of the bar, a share of the width
 * @param {number} frameWidth pixels of the frame
 * @returns {[number, string, number, number] | null} a share of the width, an alignment, pixels aside and down
 */
function valueBehindBar({ label, text }, end, frameWidth) {
  const value = measureTextWidth(text, true), isFull = measureTextWidth(label, false) + VALUE_GAP + value > frameWidth;
  return isFull && end * frameWidth + VALUE_GAP + value <= frameWidth ? [end, "start", VALUE_GAP, 36] : null;
}

/** A thin line with two ends: the range that a bar's total may have. */
function rangeMarks([low, high], y) {
  const ends = [low, high].map((x) => [[x, y - 4], [x, y + 4]]);
  const lines = [[[low, y], [high, y]], ...ends];
  // On paper of their own, since the ink may be as pale as the bar.
  const background = lines.map((points) => lineMark(points, "paper", "tick", 3));
  return [...background, ...lines.map((points) => lineMark(points, "ink", "tick"))];
}

/** @returns {Picture} */
export function layoutHeatmap(view) {
  const nameWidth = TICK_TEXT_SCALE * Math.max(...view.y.map((text) => measureTextWidth(text, false)), 0);
  const frame = frameOfRows(view.y.length, CELL_ROW, Math.min(140, Math.max(40, nameWidth + 14)), 30);
  const count = view.x.length;
  const finite = view.values.flat().filter((value) => value !== null);
  const low = finite.length ? Math.min(...finite) : 0, high = finite.length ? Math.max(...finite) : 0;
  const boxes = [], texts = [], fit = fitCellTexts(view, count, frame);
  view.y.forEach((name, row) =>
    texts.push(textMark(0, row * CELL_ROW + 21, name, "end", -8, "muted", "tick")));
  texts.push(...thinTexts(view.x.map((name, i) => [(i + 0.5) / count, name]), frame, 18, () => "middle"));
  texts.push(textMark(0, -12, view.y_label, "start", -frame.left, "muted", "tick"));
  texts.push(textMark(1, frame.height + 38, view.x_label, "end", 0, "muted", "tick"));
  const bare = { narrow: fit.narrow === "bare", wide: fit.wide === "bare" };
  if (bare.narrow || bare.wide) {
    const unit = textMark(0, frame.height + 38, `(${fit.unit.trim()})`, "start", -frame.left, "muted", "tick");
    texts.push(bare.narrow && bare.wide ? unit : { ...unit, ...bare });
  }
  view.values.forEach((values, row) => values.forEach((value, column) => {
    if (value === null) return;
    const strength = PALEST + (DEEPEST - PALEST) * ((value - low) / (high - low || 1));
    const y = row * CELL_ROW, text = view.texts[row][column];
    const x0 = column / count, x1 = (column + 1) / count - 0.003;
    boxes.push(boxMark(x0, x1, y, y + CELL_ROW - 2, "accent", strength, false,
      `${view.y[row]}, ${view.x[column]}`, text));
    const cellText = textMark((x0 + x1) / 2, y + 21, text, "middle", 0, "ink", "cell");
    texts.push(...cellTexts(text, fit).map(([text, on]) => ({ ...cellText, text, ...on })));
  }));
  const spots = view.points.filter(({ x, y }) =>
    x >= 0 && x <= count - 1 && y >= 0 && y <= view.y.length - 1);
  texts.push(...spots.map((spot) => textMark(1, -12, spot.label, "end", 0, spot.color, "strong")));
  const front = spots.flatMap((spot) => cellOutline(spot, count));
  return { frame, back: [], boxes, curves: [], front, rings: [], words: texts };
}

/**
 * What the cells of a map have room for, on a phone and on a wide page: all whole texts, all numbers, or
 * none, since those left out would be the largest, whose texts are longest. A unit that all share goes
 * once under the map where only it is too much.
 * @returns {{narrow: string, wide: string, unit: string}} "whole", "bare" or ""
 */
function fitCellTexts(view, count, frame) {
  const texts = view.values.flatMap((values, row) => view.texts[row].filter((_, column) => values[column] !== null));
  const units = new Set(texts.map(unitSuffix)), unit = units.size === 1 ? [...units][0] : "";
  const bareTexts = texts.map((text) => withoutUnit(text, unit));
  const fitOn = (chart) => {
    const cellWidth = (chart - frame.left - frame.right) * (1 / count - 0.003) - CELL_TEXT_GAP;
    const fits = (texts) => texts.every((text) => cellTextWidth(text) <= cellWidth);
    return fits(texts) ? "whole" : unit && fits(bareTexts) ? "bare" : "";
  };
  return { narrow: fitOn(PHONE), wide: fitOn(WIDE), unit };
}

/** The texts of a cell, and on which charts each is shown. @returns {[string, object][]} */
function cellTexts(text, { narrow, wide, unit }) {
  const shownText = (how) => (how === "bare" ? withoutUnit(text, unit) : text);
  if (narrow === wide) return narrow ? [[shownText(narrow), {}]] : [];
  return [...(narrow ? [[shownText(narrow), { narrow: true }]] : []), ...(wide ? [[shownText(wide), { wide: true }]] : [])];
}

/** A text without the unit at its end. */
function withoutUnit(text, unit) {
  return text.slice(0, text.length - unit.length);
}

/** Pixels that a cell's text is wide at most. */
function cellTextWidth(text) {
  return CELL_TEXT_SCALE * measureTextWidth(text, false);
}

/** What follows a text's last digit: " %". */
function unitSuffix(text) {
  return /\D*$/.exec(text)?.[0] ?? "";
}

/** A frame as large as a cell around a marked place, which leaves the cell's number readable. */
function cellOutline({ x, y, color }, count) {
  const [x0, x1] = [x / count, (x + 1) / count - 0.003];
  const [y0, y1] = [y * CELL_ROW, (y + 1) * CELL_ROW - 2];
  const sides = [
    [[x0, y0], [x1, y0]], [[x0, y1], [x1, y1]], [[x0, y0 - 2], [x0, y1 + 2]], [[x1, y0 - 2], [x1, y1 + 2]],
  ];
  // On paper of their own, since the cells may be as dark as the frame.
  const background = sides.map((points) => lineMark(points, "paper", "tick", 7));
  return [...background, ...sides.map((points) => lineMark(points, color, "tick", 3))];
}
