// The places that a text inside a chart may take beside what it names, the best first.

import { TYPICAL, widthOf, words } from "./frame.js";

// So that the last bits of a number decide nothing where a text ends at a curve's end.
const EDGE = 0.01;
// Shares of a curve before its end.
const BACK = [0, 0.12, 0.25, 0.4, 0.55, 0.7, 0.85, 0.06, 0.18, 0.32, 0.47, 0.62, 0.77, 0.92, 1];
// Of a curve's name: pixels above the curve and below it, and what speaks against them.
const ROWS = [[-8, 17, 0], [-14, 23, 0.4], [-20, 29, 0.7], [-27, 36, 1], [-35, 44, 1.3]];
// Of a point's label: pixels below the point and to its side, and what speaks against them. A long text
// that fits on neither side of its point is centered over or under it.
const AROUND = [
  [-11, 9, 0], [20, 9, 0], [4.5, 13, 0], [-24, 9, 0], [34, 9, 0], [-38, 9, 0],
  [-14, 0, 0], [24, 0, 0], [-31, 0, 0], [41, 0, 0],
  [-18, 24, 0.5], [27, 24, 0.5], [4.5, 28, 0.5], [-6, 20, 0.5], [14, 20, 0.5],
  [-14, -30, 0.6], [24, -30, 0.6], [-31, -20, 0.8], [41, -20, 0.8], [-14, -60, 0.9], [24, -60, 0.9],
  [-48, 9, 0.8], [54, 9, 0.8], [-34, 26, 0.8], [44, 26, 0.8], [-48, 0, 0.8], [58, 0, 0.8], [-48, -20, 1],
  [-62, 9, 1], [68, 9, 1], [-62, -20, 1.1], [-78, 9, 1.3], [84, 9, 1.3], [-78, -20, 1.4],
  [-94, 9, 1.5], [100, 9, 1.5], [-110, 9, 1.7], [116, 9, 1.7], [-24, 44, 2], [34, 44, 2], [4.5, 46, 2],
];
const ASIDE = 6, CLEAR = 4; // pixels from a rule to a value that made way for it; that no value may come nearer
const MIDDLE = 4, NEAR = 4; // pixels from a text's foot to its middle; two distances that look alike
const DOUBT = 3; // that another curve is meant
const ALONG = [0, 0.5, 1]; // of a name: where it is asked which curve it is nearest to

/** @typedef {import("./place.js").Wish} Wish */

/** The places of a curve's name: above or below it, near its end first. @returns {Wish[]} */
export function besideCurve(curve, others, text, color) {
  const span = widthOf(text, true) / TYPICAL;
  const spots = BACK.map((back) => {
    const [x, y] = at(curve, 1 - back), aligns = x > 0.35 ? ["end", "start"] : ["start", "end"];
    return aligns.map((align) => {
      const along = ALONG.map((part) => x + (align === "end" ? -1 : 1) * part * span);
      return { x, y, align, own: heights([curve], along), others: heights(others, along) };
    });
  });
  return ROWS.flatMap(([up, down, far]) => spots.flatMap((ways) => [up, down].flatMap((dy) => ways.map((spot) => {
    const cost = far + (doubtful(spot, spot.y + dy - MIDDLE) ? DOUBT : 0);
    return { one: words(spot.x, spot.y + dy, text, spot.align, 0, color, "strong"), cost };
  }))));
}

/** Where curves lie at some shares of the width, those aside that end before. */
function heights(curves, along) {
  return curves.flatMap((one) => along.map((x) => heightAt(one, x))).filter((height) => height !== undefined);
}

/** Whether a name whose middle is there is about as near to another curve as to its own. */
function doubtful({ own, others }, middle) {
  const nearest = (all) => Math.min(...all.map((height) => Math.abs(height - middle)));
  return nearest(others) < nearest(own) + NEAR;
}

function heightAt(curve, x) {
  for (let k = 1; k < curve.length; k++) {
    const [x0, y0] = curve[k - 1], [x1, y1] = curve[k];
    if (x0 - EDGE < x && x < x1 + EDGE) return x1 > x0 ? y0 + ((y1 - y0) * (x - x0)) / (x1 - x0) : y1;
  }
  return undefined;
}

function at(curve, part) {
  const first = curve[0][0], last = curve[curve.length - 1][0];
  const wanted = first + (last - first) * part, y = heightAt(curve, wanted);
  return y === undefined ? curve[curve.length - 1] : [wanted, y];
}

/** The places of a point's label: around it, the farther the less liked. @returns {Wish[]} */
export function besidePoint(x, y, text, color) {
  const sides = x > 0.5 ? [["end", -1], ["start", 1]] : [["start", 1], ["end", -1]];
  return AROUND
    .flatMap(([dy, away, cost]) => (away ? sides.map(([align, way]) => [dy, align, way * away, cost])
      : [[dy, "middle", 0, cost]]))
    .map(([dy, align, dx, cost]) => ({ one: words(x, y + dy, text, align, dx, color, "strong"), cost, of: [x, y] }));
}

/** The places of a rule's label: at `where`, a share of the width or pixels down. @returns {Wish[]} */
export function besideRule(axis, where, height, text, color) {
  const made = (x, y, align, dx, cost = 0) => ({ one: words(x, y, text, align, dx, color), cost });
  if (axis === "y") {
    const between = Array.from({ length: 15 }, (_, i) => [(i + 1) / 16, "middle", 0]);
    const along = [[0, "start", 6], [1, "end", -4], [0.5, "middle", 0], ...between, [0, "start", 1], [1, "end", 8]];
    return [[-6, 16, 0], [-10, 20, 0.4]].flatMap(([up, down, cost]) => along.flatMap(([x, align, dx]) =>
      [up, down].map((dy) => made(x, where + dy, align, dx, cost))));
  }
  const sides = [["start", 6], ["end", -6]];
  if (!(where < 0.6)) sides.reverse();
  const rows = Math.max(1, Math.floor((height - 14) / 8));
  const within = Array.from({ length: rows }, (_, i) => 14 + 8 * i).flatMap((y) =>
    sides.map(([align, dx]) => made(where, y, align, dx)));
  const above = sides.map(([align, dx]) => made(where, -7, align, dx, 1));
  return [...within, ...above, made(where, -7, "middle", 0, 1.2)];
}

/**
 * Where all values of bars stand: at the right end, or beside a rule that would run through one of them,
 * as a share of the width, an alignment and pixels aside. Where no place is clear, the rule is cut.
 * @param {number[]} uprights shares of the width @param {{label: string, text: string}[]} bars
 * @param {number} room pixels of the narrowest frame: what is clear there is clear on wider ones
 * @returns {[number, string, number]}
 */
export function besideRules(uprights, bars, room) {
  /** @type {[number, string, number][]} */
  const all = [[1, "end", 0], ...[...uprights].sort((a, b) => b - a).flatMap((at) => (
    /** @type {[number, string, number][]} */ ([[at, "end", -ASIDE], [at, "start", ASIDE]])))];
  const sizes = bars.map(({ label, text }) => [widthOf(label, false), widthOf(text, true)]);
  return all.find(([x, align, dx]) => sizes.every(([before, wide]) => {
    const left = x * room + dx - (align === "end" ? wide : 0), right = left + wide;
    return left > before + ASIDE && right < room + CLEAR
      && uprights.every((at) => at * room < left - CLEAR || at * room > right + CLEAR);
  })) ?? all[0];
}
