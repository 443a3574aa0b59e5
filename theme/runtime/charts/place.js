// Where the texts inside a chart go: beside what they name, off the curves and off one another.

import { BEFORE, BOLD_CHAR, CHAR, DESKTOP, PHONE, TABLET, words } from "./frame.js";

// So that the last bits of a number decide nothing where a text ends at a curve's end.
const EDGE = 0.01;
// Shares of a curve before its end.
const BACK = [0, 0.12, 0.25, 0.4, 0.55, 0.7, 0.85, 0.06, 0.18, 0.32, 0.47, 0.62, 0.77, 0.92];
const LINE = 16; // pixels
const BOLD = new Set(["strong"]); // looks of bold letters
const APART = 4; // pixels between two texts, one beside the other
const NEAR = 14; // pixels between two texts, one over the other, that do not seem to belong together
const STEP = 6; // pixels between the dots of a curve at most
const COLUMN = 24; // pixels
const OUTSIDE = 100, MEET = 50, TOUCH = 0.5, DOUBT = 2; // dots that a text would rather cover
// A curve is steep on a phone and flat on a wide page: a text has to be clear of it on all.
const CHARTS = [PHONE, TABLET, DESKTOP];
const ROUNDS = 3; // of looking again, since a text that came later may be in the way

/** @typedef {import("./frame.js").Words} Words */
/** @typedef {{one: Words, cost: number}} Wish a place, and what speaks against it */
/** @typedef {{x: number, y: number, wide: number, high: number}} Knob a mark around a point, pixels */
/** @typedef {{width: number, height: number, columns: number[][][]}} Room a frame as wide as on one
 *   page, and the dots that a text may cover there, by their columns */

/**
 * Each text at the place that crosses the fewest curves and other texts, whatever the page's width.
 * @param {Wish[][]} wishes the places each text may take, the best first
 * @param {number[][][]} curves
 * @param {Knob[]} knobs
 * @param {{left: number, right: number, height: number}} frame
 * @returns {Words[]}
 */
export function place(wishes, curves, knobs, { left, right, height }) {
  const rooms = CHARTS.map((chart) => roomOf(chart - left - right, height, curves, knobs));
  const spots = wishes.map((places) => places.map(({ one, cost }, i) => ({ one, least: cost + i / 100 })));
  const chosen = [];
  for (let round = 0; round < ROUNDS; round++) {
    spots.forEach((all, i) => {
      chosen[i] = best(all, chosen.filter((_, k) => k !== i), rooms);
    });
  }
  return chosen.map(({ one }) => one);
}

/** The cheapest spot beside others; one that cannot be it is not looked at. */
function best(spots, others, rooms) {
  let found = spots[0], lowest = Infinity;
  for (const spot of spots) {
    if (spot.least >= lowest) continue;
    if (!spot.boxes) {
      spot.boxes = rooms.map(({ width }) => boxOf(spot.one, width));
      spot.cost = spot.least + sum(spot.boxes.map((box, k) => costOf(box, rooms[k])));
    }
    if (spot.cost >= lowest) continue;
    const cost = spot.cost + sum(others.map((other) => crowding(spot.boxes, other.boxes)));
    if (cost < lowest) [found, lowest] = [spot, cost];
  }
  return found;
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** @returns {Room} */
function roomOf(width, height, curves, knobs) {
  const columns = [];
  const around = knobs.flatMap((one) => aroundOf(one, width));
  for (const dot of [...curves.flatMap((curve) => dotsOf(curve, width)), ...around]) {
    (columns[columnOf(dot[0])] ??= []).push(dot);
  }
  return { width, height, columns };
}

function columnOf(x) {
  return Math.max(0, Math.floor(x / COLUMN));
}

function boxOf({ x, y, dx, text, align, look }, room) {
  const width = (BOLD.has(look) ? BOLD_CHAR : CHAR) * text.length, left = x * room + dx - BEFORE[align] * width;
  return [left, y - 11, left + width, y + 4];
}

function costOf([left, top, right, bottom], { width, height, columns }) {
  let cost = left < -2 || right > width + 2 || top < -2 || bottom > height + 2 ? OUTSIDE : 0;
  for (let k = columnOf(left); k <= columnOf(right); k++) {
    for (const [x, y] of columns[k] ?? []) {
      if (left + EDGE < x && x < right - EDGE && top < y && y < bottom) cost += 1;
    }
  }
  return cost;
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
function aroundOf({ x, y, wide, high }, width) {
  const count = Math.ceil(wide / STEP);
  return Array.from({ length: 2 * count + 1 }, (_, i) => x * width + ((i - count) * wide) / count)
    .flatMap((at) => [[at, y - high], [at, y + high]]);
}

/** The places of a curve's name: above or below it, near its end first, other curves rather not. */
export function besideCurve(curve, others, text, color) {
  return BACK.map((back) => at(curve, 1 - back)).flatMap(([x, y]) => {
    const aligns = x > 0.35 ? ["end", "start"] : ["start", "end"];
    const cost = others.some((other) => close(other, x, y)) ? DOUBT : 0;
    return [-8, 17].flatMap((dy) =>
      aligns.map((align) => ({ one: words(x, y + dy, text, align, 0, color, "strong"), cost })));
  });
}

/** Whether the curve passes within a line's height of the spot. */
function close(curve, x, y) {
  for (let k = 1; k < curve.length; k++) {
    const [x0, y0] = curve[k - 1], [x1, y1] = curve[k];
    if (!(x0 - EDGE < x && x < x1 + EDGE)) continue;
    if (Math.min(y0, y1) - LINE < y && y < Math.max(y0, y1) + LINE) return true;
  }
  return false;
}

function at(curve, part) {
  const first = curve[0][0], last = curve[curve.length - 1][0];
  const wanted = first + (last - first) * part;
  for (let k = 1; k < curve.length; k++) {
    const [x0, y0] = curve[k - 1], [x1, y1] = curve[k];
    if (x0 <= wanted && wanted <= x1 && x1 > x0) {
      return [wanted, y0 + ((y1 - y0) * (wanted - x0)) / (x1 - x0)];
    }
  }
  return curve[curve.length - 1];
}

/** The places of a point's label: around it. */
export function besidePoint(x, y, text, color) {
  const rows = [[-11, 9], [20, 9], [4.5, 13], [-24, 9], [34, 9], [-38, 9]];
  const beside = rows.flatMap(([dy, far]) => {
    const sides = [["start", far], ["end", -far]];
    if (x > 0.5) sides.reverse();
    return sides.map(([align, dx]) => [dy, align, dx]);
  });
  // A long text that fits on neither side of its point is centered over or under it.
  return [...beside, ...[-14, 24, -31, 41].map((dy) => [dy, "middle", 0])].map(([dy, align, dx]) => (
    { one: words(x, y + dy, text, align, dx, color, "strong"), cost: 0 }));
}

/** The places of a rule's label: at `where`, a share of the width or pixels down. */
export function besideRule(axis, where, height, text, color) {
  const made = (x, y, align, dx) => ({ one: words(x, y, text, align, dx, color), cost: 0 });
  if (axis === "y") {
    const along = [
      [0, "start", 6], [1, "end", -4], [0.5, "middle", 0], [0.25, "middle", 0], [0.75, "middle", 0],
    ];
    return along.flatMap(([x, align, dx]) => [-6, 16].map((dy) => made(x, where + dy, align, dx)));
  }
  const sides = [["start", 6], ["end", -6]];
  if (!(where < 0.6)) sides.reverse();
  const rows = Math.max(1, Math.floor((height - 14) / 17));
  return Array.from({ length: rows }, (_, i) => 14 + 17 * i).flatMap((y) =>
    sides.map(([align, dx]) => made(where, y, align, dx)));
}
