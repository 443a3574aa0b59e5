// Bars and heatmaps as marks.

import {
  PHONE, SMALL, WIDE, clamp, inside, line, rowsFrame, rulesAbove, share, thinned, widthOf, words, xAxis,
  xGrid,
} from "./frame.js";
import { besideRules } from "./beside.js";
import { keysAbove } from "./keys.js";
import { cut } from "./cut.js";

/** @typedef {import("./frame.js").Picture} Picture */

const BAR_ROW = 46, CELL_ROW = 34, KEYS = 320;
const GAP = 6; // pixels between a bar or its label and a value beside it
const CELL_TEXT = 11 / 13, TICK_TEXT = 12 / 13; // sizes over that of a label
const CELLS_APART = 6; // pixels between the texts of two cells
// Shares of the accent in a cell: ink is read on the deepest one in both schemes (test_colors.py).
const PALEST = 0.05, DEEPEST = 0.48;

export function box(x0, x1, y0, y1, color, strength = 1, hatched = false, label = "", text = "") {
  return { x0, x1, y0, y1, color, strength, hatched, label, text };
}

/** @returns {Picture} */
export function bars(view) {
  const rules = view.rules.filter((rule) => inside(share(view.axis, rule.at)));
  const keys = view.keys.map((key) => [...key, "swatch"]);
  const plain = rowsFrame(view.bars.length, BAR_ROW, 2, 6 + 17 * rules.length);
  const { top, wideTop, swatches, names } = keysAbove(keys, plain.top, KEYS, plain), frame = { ...plain, top, wideTop };
  const { marks, texts } = xAxis(view.axis, frame);
  const boxes = [], ranges = [], uprights = rules.map((rule) => share(view.axis, rule.at));
  const [narrow, wide] = [SMALL, WIDE].map((chart) =>
    besideRules(uprights, view.bars, chart - frame.left - frame.right));
  view.bars.forEach((bar, row) => {
    const y = row * BAR_ROW, parts = [];
    if (bar.range) ranges.push(...rangeOf(bar.range.map((at) => clamp(share(view.axis, at))), y + 31));
    for (const s of bar.segments) {
      const [x0, x1] = [s.start, s.end].map((at) => clamp(share(view.axis, at)));
      parts.push(box(x0, x1, y + 22, y + 40, s.color, 1, false, s.label, s.text));
    }
    boxes.push(...parts);
    texts.push(words(0, y + 15, bar.label));
    const value = ([x, align, dx, down]) => words(x, y + down, bar.text, align, dx, "ink", "strong");
    const aside = behind(bar, Math.max(0, ...parts.map(({ x1 }) => x1)), SMALL - frame.left - frame.right);
    const spots = [aside ?? [...narrow, 15], [...wide, 15]], values = spots.map(value);
    texts.push(...(spots[0].join() === spots[1].join() ? [values[0]]
      : [{ ...values[0], narrow: true }, { ...values[1], wide: true }]));
  });
  const { lines, labels } = rulesAbove(rules, view.axis, frame);
  return {
    frame,
    back: xGrid(view.axis, frame),
    boxes,
    curves: [],
    front: [...marks, ...swatches, ...ranges, ...lines.flatMap((rule) => cut(rule, texts, frame))],
    rings: [],
    words: [...texts, ...names, ...labels],
  };
}

/**
 * On a phone a value whose row has no room left by the label stands behind the bar, where that fits.
 * @param {{label: string, text: string}} bar @param {number} end of the bar, a share of the width
 * @param {number} room pixels of the frame
 * @returns {[number, string, number, number] | null} a share of the width, an alignment, pixels aside and down
 */
function behind({ label, text }, end, room) {
  const value = widthOf(text, true), full = widthOf(label, false) + GAP + value > room;
  return full && end * room + GAP + value <= room ? [end, "start", GAP, 36] : null;
}

/** A thin line with two ends: the range that a bar's total may have. */
function rangeOf([low, high], y) {
  const ends = [low, high].map((x) => [[x, y - 4], [x, y + 4]]);
  const lines = [[[low, y], [high, y]], ...ends];
  // On paper of their own, since the ink may be as pale as the bar.
  const under = lines.map((points) => line(points, "paper", "tick", 3));
  return [...under, ...lines.map((points) => line(points, "ink", "tick"))];
}

/** @returns {Picture} */
export function heatmap(view) {
  const name = TICK_TEXT * Math.max(...view.y.map((text) => widthOf(text, false)), 0);
  const frame = rowsFrame(view.y.length, CELL_ROW, Math.min(140, Math.max(40, name + 14)), 30);
  const count = view.x.length;
  const finite = view.values.flat().filter((value) => value !== null);
  const low = finite.length ? Math.min(...finite) : 0, high = finite.length ? Math.max(...finite) : 0;
  const boxes = [], texts = [], room = fitting(view, count, frame);
  view.y.forEach((name, row) =>
    texts.push(words(0, row * CELL_ROW + 21, name, "end", -8, "muted", "tick")));
  texts.push(...thinned(view.x.map((name, i) => [(i + 0.5) / count, name]), frame, 18, () => "middle"));
  texts.push(words(0, -12, view.y_label, "start", -frame.left, "muted", "tick"));
  texts.push(words(1, frame.height + 38, view.x_label, "end", 0, "muted", "tick"));
  const bare = { narrow: room.narrow === "bare", wide: room.wide === "bare" };
  if (bare.narrow || bare.wide) {
    const unit = words(0, frame.height + 38, `(${room.unit.trim()})`, "start", -frame.left, "muted", "tick");
    texts.push(bare.narrow && bare.wide ? unit : { ...unit, ...bare });
  }
  view.values.forEach((values, row) => values.forEach((value, column) => {
    if (value === null) return;
    const strength = PALEST + (DEEPEST - PALEST) * ((value - low) / (high - low || 1));
    const y = row * CELL_ROW, text = view.texts[row][column];
    const x0 = column / count, x1 = (column + 1) / count - 0.003;
    boxes.push(box(x0, x1, y, y + CELL_ROW - 2, "accent", strength, false,
      `${view.y[row]}, ${view.x[column]}`, text));
    const one = words((x0 + x1) / 2, y + 21, text, "middle", 0, "ink", "cell");
    texts.push(...cellTexts(text, room).map(([text, on]) => ({ ...one, text, ...on })));
  }));
  const spots = view.points.filter(({ x, y }) =>
    x >= 0 && x <= count - 1 && y >= 0 && y <= view.y.length - 1);
  texts.push(...spots.map((spot) => words(1, -12, spot.label, "end", 0, spot.color, "strong")));
  const front = spots.flatMap((spot) => outline(spot, count));
  return { frame, back: [], boxes, curves: [], front, rings: [], words: texts };
}

/**
 * What the cells of a map have room for, on a phone and on a wide page: all whole texts, all numbers, or
 * none, since those left out would be the largest, whose texts are longest. A unit that all share goes
 * once under the map where only it is too much.
 * @returns {{narrow: string, wide: string, unit: string}} "whole", "bare" or ""
 */
function fitting(view, count, frame) {
  const all = view.values.flatMap((values, row) => view.texts[row].filter((_, column) => values[column] !== null));
  const units = new Set(all.map(unitOf)), unit = units.size === 1 ? [...units][0] : "";
  const bare = all.map((text) => bareOf(text, unit));
  const on = (chart) => {
    const room = (chart - frame.left - frame.right) * (1 / count - 0.003) - CELLS_APART;
    const fits = (texts) => texts.every((text) => wideAs(text) <= room);
    return fits(all) ? "whole" : unit && fits(bare) ? "bare" : "";
  };
  return { narrow: on(PHONE), wide: on(WIDE), unit };
}

/** The texts of a cell, and on which charts each is shown. @returns {[string, object][]} */
function cellTexts(text, { narrow, wide, unit }) {
  const said = (how) => (how === "bare" ? bareOf(text, unit) : text);
  if (narrow === wide) return narrow ? [[said(narrow), {}]] : [];
  return [...(narrow ? [[said(narrow), { narrow: true }]] : []), ...(wide ? [[said(wide), { wide: true }]] : [])];
}

/** A text without the unit at its end. */
function bareOf(text, unit) {
  return text.slice(0, text.length - unit.length);
}

/** Pixels that a cell's text is wide at most. */
function wideAs(text) {
  return CELL_TEXT * widthOf(text, false);
}

/** What follows a text's last digit: " %". */
function unitOf(text) {
  return /\D*$/.exec(text)?.[0] ?? "";
}

/** A frame as large as a cell around a marked place, which leaves the cell's number readable. */
function outline({ x, y, color }, count) {
  const [x0, x1] = [x / count, (x + 1) / count - 0.003];
  const [y0, y1] = [y * CELL_ROW, (y + 1) * CELL_ROW - 2];
  const sides = [
    [[x0, y0], [x1, y0]], [[x0, y1], [x1, y1]], [[x0, y0 - 2], [x0, y1 + 2]], [[x1, y0 - 2], [x1, y1 + 2]],
  ];
  // On paper of their own, since the cells may be as dark as the frame.
  const under = sides.map((points) => line(points, "paper", "tick", 7));
  return [...under, ...sides.map((points) => line(points, color, "tick", 3))];
}
