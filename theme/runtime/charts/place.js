// Where the texts inside a chart go: off the curves and off one another, on a phone and on a wide page.

import { BEFORE, DESKTOP, PHONE, SMALL, TABLET, WIDE, widthOf } from "./frame.js";

const EDGE = 0.01; // of a pixel, which decides nothing
const BOLD = new Set(["strong", "inside"]); // looks of bold letters
const APART = 4; // pixels between two texts, one beside the other
const NEAR = 14; // pixels between two texts, one over the other, that do not seem to belong together
const MARGIN = 12, ABOVE = 19; // pixels that a text may reach out of the frame, to the right and up
const BESIDE = 4; // pixels between a text and an upright line that is not cut
const STEP = 4; // pixels between the dots of a curve at most
const COLUMN = 24; // pixels
const ALIKE = 3; // pixels between two points that look like one
// Dots that a text would rather cover. An upright line is cut around a text, so its dots weigh little.
const OUTSIDE = 100, MEET = 50, STRUCK = 4, DOUBT = 3, TOUCH = 0.5, UPRIGHT = 0.3;
// A curve is steep on a phone and flat on a wide page: a text has to be clear of it on all.
const CHARTS = [SMALL, PHONE, TABLET, DESKTOP];
const ROUNDS = 3; // of looking again, since a text that came later may be in the way
const BETTER = 0.4; // that narrow and wide charts have to gain, for a text to have a place in each

/** @typedef {import("./frame.js").Words} Words */
/** @typedef {{one: Words, cost: number, of?: number[]}} Wish a place, what speaks against it, and the
 *   point that it is a place of */
/** @typedef {{x: number, y: number, wide: number, high: number, named: boolean, weight?: number}} Knob a
 *   mark around a point, in pixels, whether the point has a label of its own, and what its dots weigh */
/** @typedef {{curves: number[][][], uprights: number[][][], knobs: Knob[], texts: Words[]}} Drawn what
 *   the texts should be clear of */
/** @typedef {{width: number, height: number, knobs: Knob[], uprights: number[][][],
 *   columns: number[][][]}} Room a frame as wide as on one page, and the dots that a text may cover there,
 *   by their columns */

/**
 * Each text at the place that crosses the fewest curves and other texts, whatever the page's width. Where
 * no such places are as good as places for narrow charts and for wide ones, a text has one for each.
 * @param {Wish[][]} wishes the places each text may take, the best first
 * @param {Drawn} drawn
 * @param {{left: number, right: number, height: number}} frame
 * @returns {Words[][]}
 */
export function place(wishes, drawn, frame) {
  const [all, narrow, wide] = [CHARTS, CHARTS.filter(isNarrow), CHARTS.filter((chart) => !isNarrow(chart))]
    .map((charts) => chosen(wishes, drawn, frame, charts));
  if (all.cost <= narrow.cost + wide.cost + BETTER) return all.texts.map((one) => [one]);
  return narrow.texts.map((one, i) => {
    const other = wide.texts[i], same = one.x === other.x && one.y === other.y && one.dx === other.dx
      && one.align === other.align;
    return same ? [one] : [{ ...one, narrow: true }, { ...other, wide: true }];
  });
}

function isNarrow(chart) {
  return chart < WIDE;
}

/** The widths at which a text is shown. @param {Words} one */
function chartsOf(one) {
  return CHARTS.filter((chart) => !(isNarrow(chart) ? one.wide : one.narrow));
}

/** The places on charts of some widths, and what speaks against them. */
function chosen(wishes, drawn, { left, right, height }, charts) {
  const rooms = charts.map((chart) => roomOf(chart - left - right, height, drawn));
  const part = charts.length / CHARTS.length;
  const spots = wishes.map((places) => {
    const wide = wideOf(places[0].one);
    return places.map(({ one, cost, of }, i) => ({ one, of, wide, least: part * (cost + i / 300) }));
  });
  const standing = drawn.texts.map((one) => ({ boxes: rooms.map(({ width }) => boxOf(one, wideOf(one), width)) }));
  const found = [];
  for (let round = 0; round < ROUNDS; round++) {
    spots.forEach((all, i) => {
      found[i] = best(all, [...standing, ...found.map(({ spot }) => spot).filter((_, k) => k !== i)], rooms);
    });
  }
  return { texts: found.map(({ spot }) => spot.one), cost: sum(found.map(({ lowest }) => lowest)) };
}

/**
 * The parts of an upright line that no text lies on, whatever the page's width.
 * @template {{points: number[][]}} T
 * @param {T} line @param {Words[]} texts @param {{left: number, right: number}} frame
 * @returns {T[]}
 */
export function cut(line, texts, { left, right }) {
  const [[x, top], [, bottom]] = line.points, gaps = texts.filter(({ y }) => y < bottom).flatMap((one) => {
    const wide = wideOf(one), rooms = chartsOf(one).map((chart) => chart - left - right);
    const boxes = rooms.map((room) => [x * room, ...boxOf(one, wide, room)]);
    const struck = boxes.find(([at, start, , end]) => start - BESIDE < at && at < end + BESIDE);
    return struck ? [[struck[2], struck[4]]] : [];
  }).sort(([a], [b]) => a - b);
  const parts = [];
  let from = top;
  for (const [start, end] of [...gaps, [bottom, bottom]]) {
    if (start > from) parts.push({ ...line, points: [[x, from], [x, Math.min(start, bottom)]] });
    from = Math.max(from, end);
  }
  return parts;
}

/** The cheapest spot beside others; one that cannot be it is not looked at. */
function best(spots, others, rooms) {
  let found = spots[0], lowest = Infinity;
  for (const spot of spots) {
    if (spot.least >= lowest) continue;
    if (!spot.boxes) {
      spot.boxes = rooms.map(({ width }) => boxOf(spot.one, spot.wide, width));
      spot.cost = spot.least + sum(spot.boxes.map((box, k) => costOf(box, rooms[k]) + doubt(box, spot.of, rooms[k])));
    }
    if (spot.cost >= lowest) continue;
    const cost = spot.cost + sum(others.map((other) => crowding(spot.boxes, other.boxes)));
    if (cost < lowest) [found, lowest] = [spot, cost];
  }
  return { spot: found, lowest };
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** @param {Drawn} drawn @returns {Room} */
function roomOf(width, height, { curves, uprights, knobs }) {
  const columns = [];
  const light = uprights.flatMap((line) => dotsOf(line, width)).map(([x, y]) => [x, y, UPRIGHT]);
  const around = knobs.flatMap((one) => aroundOf(one, width));
  for (const dot of [...curves.flatMap((curve) => dotsOf(curve, width)), ...light, ...around]) {
    (columns[columnOf(dot[0])] ??= []).push(dot);
  }
  return { width, height, knobs, uprights, columns };
}

function columnOf(x) {
  return Math.max(0, Math.floor(x / COLUMN));
}

function wideOf({ text, look }) {
  return widthOf(text, BOLD.has(look));
}

function boxOf({ x, y, dx, align }, wide, room) {
  const left = x * room + dx - BEFORE[align] * wide;
  return [left, y - 12, left + wide, y + 4];
}

function costOf([left, top, right, bottom], { width, height, columns }) {
  let cost = left < -2 || right > width + MARGIN || top < -ABOVE || bottom > height ? OUTSIDE : 0;
  let struck = 0;
  for (let k = columnOf(left); k <= columnOf(right); k++) {
    for (const [x, y, weight = 1] of columns[k] ?? []) {
      if (!(left + EDGE < x && x < right - EDGE && top < y && y < bottom)) continue;
      cost += weight;
      if (weight >= 1) struck = STRUCK;
    }
  }
  return cost + struck;
}

/** What it costs that a point's label is nearer to other points, or to a line that parts them. */
function doubt(box, of, { width, knobs, uprights }) {
  if (!of) return 0;
  const [x, y] = of, own = distance(box, x * width, y), [left, , right] = box;
  const nearer = knobs.filter((one) => (
    one.named && Math.hypot((one.x - x) * width, one.y - y) > ALIKE && distance(box, one.x * width, one.y) < own));
  const parting = uprights.filter(([[at]]) => (
    at > x && at * width <= left + EDGE || at < x && at * width >= right - EDGE));
  return DOUBT * (nearer.length + parting.length);
}

function distance([left, top, right, bottom], x, y) {
  return Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
}

/** What it costs that two texts are near each other, in all rooms. */
function crowding(boxes, others) {
  return sum(boxes.map(([left, top, right, bottom], k) => {
    const [x, y, r, b] = others[k];
    if (left < r + APART && right > x - APART && top < b && bottom > y) return MEET;
    return left < r && right > x && top < b + NEAR && bottom > y - NEAR ? TOUCH : 0;
  }));
}

function dotsOf(curve, width) {
  const dots = [];
  for (let k = 1; k < curve.length; k++) {
    const [x0, y0] = curve[k - 1], [x1, y1] = curve[k];
    const span = Math.max(Math.abs(x1 - x0) * width, Math.abs(y1 - y0));
    const steps = Math.max(1, Math.ceil(span / STEP));
    for (let i = 0; i <= steps; i++) {
      dots.push([(x0 + ((x1 - x0) * i) / steps) * width, y0 + ((y1 - y0) * i) / steps]);
    }
  }
  return dots;
}

/** A knob weighs as much as curves that run across it. */
function aroundOf({ x, y, wide, high, weight = 1 }, width) {
  const count = Math.ceil(wide / STEP);
  return Array.from({ length: 2 * count + 1 }, (_, i) => x * width + ((i - count) * wide) / count)
    .flatMap((at) => [[at, y - high, weight], [at, y + high, weight]]);
}
