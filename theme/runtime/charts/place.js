// Where the texts inside a chart go: off the curves and off one another, on a phone and on a wide page.

import { BEFORE, DESKTOP, PHONE, SMALL, TABLET, WIDE, widthOf } from "./frame.js";

const EDGE = 0.01; // of a pixel, which decides nothing
const BOLD = new Set(["strong", "inside"]); // looks of bold letters
const APART = 4; // pixels between two texts, one beside the other
const ASIDE = 12; // pixels between two texts in a line that do not read as one
const NEAR = 14; // pixels between two texts, one over the other, that do not seem to belong together
const MARGIN = 12, ABOVE = 19; // pixels that a text may reach out of the frame, to the right and up
const STEP = 4; // pixels between the dots of a curve at most
const COLUMN = 24; // pixels
const ALIKE = 3; // pixels between two points that look like one
// Dots that a text would rather cover. An upright line is cut around a text, so its dots weigh little.
const OUTSIDE = 100, MEET = 50, STRUCK = 4, DOUBT = 3, TOUCH = 0.5, UPRIGHT = 0.3;
// A curve is steep on a phone and flat on a wide page: a text has to be clear of it on all.
const CHARTS = [SMALL, PHONE, TABLET, DESKTOP];
const ROUNDS = 3; // of looking again, since a text that came later may be in the way
const BETTER = 0.4; // that narrow and wide charts have to gain, for a text to have a place in each

const NOWHERE = [0, -Infinity, 0, -Infinity]; // the box of a text that is not shown

/** @typedef {import("./frame.js").Words} Words */
/** @typedef {{one: Words, cost: number, of?: number[]}} Wish a place, what speaks against it, and the
 *   point that it is a place of */
/** @typedef {{x: number, y: number, wide: number, high: number, named: boolean, weight?: number}} Knob a
 *   mark around a point, in pixels, whether the point has a label of its own, and what its dots weigh */
/** @typedef {{curves: number[][][], uprights: number[][][], knobs: Knob[], texts: Words[]}} Drawn what
 *   the texts should be clear of */
/** @typedef {{width: number, height: number, knobs: Knob[], uprights: number[][][],
 *   columns: number[][]}} Room a frame as wide as on one page, and the dots that a text may cover there, by
 *   their columns: across, down, weight, one dot after the other */

/**
 * Each text at the place that crosses the fewest curves and other texts, whatever the page's width. Where
 * no such places are as good as places for narrow charts and for wide ones, a text has one for each.
 * @param {Wish[][]} wishes the places each text may take, the best first
 * @param {Drawn} drawn
 * @param {{left: number, right: number, height: number}} frame
 * @returns {Words[][]}
 */
export function place(wishes, drawn, { left, right, height }) {
  const rooms = CHARTS.map((chart) => roomOf(chart - left - right, height, drawn));
  const boxes = (one, wide) => rooms.map(({ width }) => boxOf(one, wide, width));
  const standing = drawn.texts.map((one) => {
    const shown = chartsOf(one);
    return { boxes: boxes(one, wideOf(one)).map((box, k) => (shown.includes(CHARTS[k]) ? box : NOWHERE)) };
  });
  const spots = wishes.map((places) => {
    const wide = wideOf(places[0].one);
    // What a spot costs in a room is found out when somebody asks, and kept.
    return places.map(({ one, cost, of }, i) => ({ one, of, least: cost + i / 300, boxes: boxes(one, wide), costs: [] }));
  });
  const at = (/** @type {(chart: number) => boolean} */ wanted) => {
    const which = CHARTS.flatMap((chart, k) => (wanted(chart) ? [k] : []));
    return chosen(spots, standing, rooms, which);
  };
  const all = at(() => true);
  if (all.cost <= BETTER) return all.texts.map((one) => [one]); // no two places cost less than nothing
  const narrow = at(isNarrow), wide = at((chart) => !isNarrow(chart));
  if (all.cost <= narrow.cost + wide.cost + BETTER) return all.texts.map((one) => [one]);
  return narrow.texts.map((one, i) => {
    const other = wide.texts[i], same = one.x === other.x && one.y === other.y && one.dx === other.dx
      && one.align === other.align;
    return same ? [one] : [{ ...one, narrow: true }, { ...other, wide: true }];
  });
}

export function isNarrow(chart) {
  return chart < WIDE;
}

/** The widths at which a text or a line is shown. @param {{wide?: boolean, narrow?: boolean}} one */
export function chartsOf(one) {
  return CHARTS.filter((chart) => !(isNarrow(chart) ? one.wide : one.narrow));
}

/** The places on charts of some widths, and what speaks against them. @param {number[]} which */
function chosen(spots, standing, rooms, which) {
  const found = [];
  for (let round = 0, moved = true; moved && round < ROUNDS; round++) {
    moved = false;
    spots.forEach((all, i) => {
      const others = [...standing, ...found.map(({ spot }) => spot).filter((_, k) => k !== i)];
      const next = best(all, others, rooms, which);
      moved ||= next.spot !== found[i]?.spot;
      found[i] = next;
    });
  }
  return { texts: found.map(({ spot }) => spot.one), cost: sum(found.map(({ lowest }) => lowest)) };
}

/** The cheapest spot beside others; one that cannot be it is not looked at. */
function best(spots, others, rooms, which) {
  const part = which.length / CHARTS.length;
  let found = spots[0], lowest = Infinity;
  for (const spot of spots) {
    const alone = costAlone(spot, part * spot.least, rooms, which, lowest);
    if (alone >= lowest) continue;
    const cost = alone + sum(others.map((other) => crowding(spot.boxes, other.boxes, which)));
    if (cost < lowest) [found, lowest] = [spot, cost];
  }
  return { spot: found, lowest };
}

/** What speaks against a spot in some rooms, or a part of it that is too much already. */
function costAlone(spot, least, rooms, which, limit) {
  let cost = 0;
  for (const k of which) {
    if (least + cost >= limit) break;
    cost += spot.costs[k] ??= costOf(spot.boxes[k], rooms[k]) + doubt(spot.boxes[k], spot.of, rooms[k]);
  }
  return least + cost;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** @param {Drawn} drawn @returns {Room} */
function roomOf(width, height, { curves, uprights, knobs }) {
  /** @type {Room["columns"]} */
  const columns = [];
  const put = (x, y, weight) => (columns[columnOf(x)] ??= []).push(x, y, weight);
  for (const curve of curves) dots(curve, width, 1, put);
  for (const line of uprights) dots(line, width, UPRIGHT, put);
  for (const one of knobs) dotsAround(one, width, put);
  return { width, height, knobs, uprights, columns };
}

function columnOf(x) {
  return Math.max(0, Math.floor(x / COLUMN));
}

export function wideOf({ text, look }) {
  return widthOf(text, BOLD.has(look));
}

export function boxOf({ x, y, dx, align }, wide, room) {
  const left = x * room + dx - BEFORE[align] * wide;
  return [left, y - 12, left + wide, y + 4];
}

function costOf([left, top, right, bottom], { width, height, columns }) {
  let cost = left < -2 || right > width + MARGIN || top < -ABOVE || bottom > height ? OUTSIDE : 0;
  let struck = 0;
  const from = left + EDGE, to = right - EDGE, last = columnOf(right);
  for (let k = columnOf(left); k <= last; k++) {
    const dots = columns[k] ?? [];
    for (let i = 0; i < dots.length; i += 3) {
      const x = dots[i], y = dots[i + 1], weight = dots[i + 2];
      if (!(from < x && x < to && top < y && y < bottom)) continue;
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

/** What it costs that two texts are near each other, in some rooms. */
function crowding(boxes, others, which) {
  let cost = 0;
  for (const k of which) {
    const [left, top, right, bottom] = boxes[k], [x, y, r, b] = others[k];
    if (left < r + APART && right > x - APART && top < b && bottom > y) cost += MEET;
    else if (left < r && right > x && top < b + NEAR && bottom > y - NEAR) cost += TOUCH;
    else if (left < r + ASIDE && right > x - ASIDE && top < b && bottom > y) cost += TOUCH;
  }
  return cost;
}

function dots(curve, width, weight, put) {
  for (let k = 1; k < curve.length; k++) {
    const [x0, y0] = curve[k - 1], [x1, y1] = curve[k];
    const span = Math.max(Math.abs(x1 - x0) * width, Math.abs(y1 - y0));
    const steps = Math.max(1, Math.ceil(span / STEP));
    for (let i = 0; i <= steps; i++) {
      put((x0 + ((x1 - x0) * i) / steps) * width, y0 + ((y1 - y0) * i) / steps, weight);
    }
  }
}

/** A knob weighs as much as curves that run across it. */
function dotsAround({ x, y, wide, high, weight = 1 }, width, put) {
  const count = Math.ceil(wide / STEP);
  for (let i = -count; i <= count; i++) {
    const at = x * width + (i * wide) / count;
    put(at, y - high, weight);
    put(at, y + high, weight);
  }
}
