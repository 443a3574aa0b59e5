// Label placement: candidate positions of chart labels next to what they name, best first.

import { PHONE_FRAME, measureTextWidth, textMark } from "./frame.js";

// So that the last bits of a number decide nothing where a text ends at a curve's end.
const EPSILON = 0.01;
// Shares of a curve before its end.
const CURVE_POSITIONS = [0, 0.12, 0.25, 0.4, 0.55, 0.7, 0.85, 0.06, 0.18, 0.32, 0.47, 0.62, 0.77, 0.92, 1];
// Of a curve's name: pixels above the curve and below it, and what speaks against them.
const NAME_OFFSETS = [[-8, 17, 0], [-14, 23, 0.4], [-20, 29, 0.7], [-27, 36, 1], [-35, 44, 1.3]];
// Of a point's label: pixels below the point and to its side, and what speaks against them. A long text
// that fits on neither side of its point is centered over or under it.
const POINT_OFFSETS = [
  [-11, 9, 0], [20, 9, 0], [4.5, 13, 0], [-24, 9, 0], [34, 9, 0], [-38, 9, 0],
  [-14, 0, 0], [24, 0, 0], [-31, 0, 0], [41, 0, 0],
  [-18, 24, 0.5], [27, 24, 0.5], [4.5, 28, 0.5], [-6, 20, 0.5], [14, 20, 0.5],
  [-14, -30, 0.6], [24, -30, 0.6], [-31, -20, 0.8], [41, -20, 0.8], [-14, -60, 0.9], [24, -60, 0.9],
  [-48, 9, 0.8], [54, 9, 0.8], [-34, 26, 0.8], [44, 26, 0.8], [-48, 0, 0.8], [58, 0, 0.8], [-48, -20, 1],
  [-62, 9, 1], [68, 9, 1], [-62, -20, 1.1], [-78, 9, 1.3], [84, 9, 1.3], [-78, -20, 1.4],
  [-94, 9, 1.5], [100, 9, 1.5], [-110, 9, 1.7], [116, 9, 1.7], [-24, 44, 2], [34, 44, 2], [4.5, 46, 2],
];
const RULE_GAP = 6, MIN_GAP = 4; // pixels from a rule to a value that made way for it; that no value may come nearer
const TEXT_MIDDLE = 4, AMBIGUITY = 4; // pixels from a text's foot to its middle; two distances that look alike
const DOUBT_COST = 3; // that another curve is meant
const NAME_SAMPLES = [0, 0.5, 1]; // of a name: where it is asked which curve it is nearest to

/** @typedef {import("./label_layout.js").Candidate} Candidate */

/** Returns candidates for a curve's name: above or below it, near its end first. @returns {Candidate[]} */
export function curveLabelCandidates(curve, others, text, color) {
  const span = measureTextWidth(text, true) / PHONE_FRAME;
  const candidates = CURVE_POSITIONS.map((distance) => {
    const [x, y] = pointAlong(curve, 1 - distance), aligns = x > 0.35 ? ["end", "start"] : ["start", "end"];
    return aligns.map((align) => {
      let heights;
      const heightsThere = () => {
        const samples = NAME_SAMPLES.map((part) => x + (align === "end" ? -1 : 1) * part * span);
        return heights ??= { own: curveHeights([curve], samples), others: curveHeights(others, samples) };
      };
      return { x, y, align, heightsThere };
    });
  });
  return NAME_OFFSETS.flatMap(([up, down, cost]) =>
    candidates.flatMap((alignments) => [up, down].flatMap((dy) =>
      alignments.map(({ x, y, align, heightsThere }) => ({
        label: textMark(x, y + dy, text, align, 0, color, "strong"),
        cost,
        doubt: () => (isAmbiguous(heightsThere(), y + dy - TEXT_MIDDLE) ? DOUBT_COST : 0),
      })))));
}

/** Where curves lie at some shares of the width, those aside that end before. */
function curveHeights(curves, samples) {
  return curves.flatMap((curve) => samples.map((x) => heightAt(curve, x))).filter((height) => height !== undefined);
}

/** Whether a name whose middle is there is about as near to another curve as to its own. */
function isAmbiguous({ own, others }, middle) {
  return nearestDistance(others, middle) < nearestDistance(own, middle) + AMBIGUITY;
}

function nearestDistance(heights, middle) {
  let nearest = Infinity;
  for (const height of heights) nearest = Math.min(nearest, Math.abs(height - middle));
  return nearest;
}

function heightAt(curve, x) {
  for (let k = 1; k < curve.length; k++) {
    const x0 = curve[k - 1][0], x1 = curve[k][0];
    if (!(x0 - EPSILON < x && x < x1 + EPSILON)) continue;
    const y0 = curve[k - 1][1], y1 = curve[k][1];
    return x1 > x0 ? y0 + ((y1 - y0) * (x - x0)) / (x1 - x0) : y1;
  }
  return undefined;
}

function pointAlong(curve, fraction) {
  const first = curve[0][0], last = curve[curve.length - 1][0];
  const x = first + (last - first) * fraction, y = heightAt(curve, x);
  return y === undefined ? curve[curve.length - 1] : [x, y];
}

/** Returns candidates for a point's label: around it, farther ones at a higher cost. @returns {Candidate[]} */
export function pointLabelCandidates(x, y, text, color) {
  const sides = x > 0.5 ? [["end", -1], ["start", 1]] : [["start", 1], ["end", -1]];
  return POINT_OFFSETS
    .flatMap(([dy, offset, cost]) => (offset ? sides.map(([align, direction]) => [dy, align, direction * offset, cost])
      : [[dy, "middle", 0, cost]]))
    .map(([dy, align, dx, cost]) => ({ label: textMark(x, y + dy, text, align, dx, color, "strong"), cost, of: [x, y] }));
}

/** Returns candidates for a rule's label: at `position`, a share of the width or pixels down. @returns {Candidate[]} */
export function ruleLabelCandidates(axis, position, height, text, color) {
  const candidate = (x, y, align, dx, cost = 0) => ({ label: textMark(x, y, text, align, dx, color), cost });
  if (axis === "y") {
    const middlePositions = Array.from({ length: 15 }, (_, i) => [(i + 1) / 16, "middle", 0]);
    const positions = [[0, "start", 6], [1, "end", -4], [0.5, "middle", 0], ...middlePositions, [0, "start", 1],
      [1, "end", 8]];
    return [[-6, 16, 0], [-10, 20, 0.4]].flatMap(([up, down, cost]) => positions.flatMap(([x, align, dx]) =>
      [up, down].map((dy) => candidate(x, position + dy, align, dx, cost))));
  }
  const sides = [["start", 6], ["end", -6]];
  if (!(position < 0.6)) sides.reverse();
  const rows = Math.max(1, Math.floor((height - 14) / 8));
  const inside = Array.from({ length: rows }, (_, i) => 14 + 8 * i).flatMap((y) =>
    sides.map(([align, dx]) => candidate(position, y, align, dx)));
  const above = sides.map(([align, dx]) => candidate(position, -7, align, dx, 1));
  return [...inside, ...above, candidate(position, -7, "middle", 0, 1.2)];
}

/**
 * Returns the position of all bars' values: at the right end, or beside a rule that would run through one of them,
 * as a share of the width, an alignment and pixels aside. Where no place is clear, the rule is cut.
 * @param {number[]} uprights shares of the width @param {{label: string, text: string}[]} bars
 * @param {number} frameWidth pixels of the narrowest frame: what is clear there is clear on wider ones
 * @returns {[number, string, number]}
 */
export function barValuePosition(uprights, bars, frameWidth) {
  /** @type {[number, string, number][]} */
  const candidates = [[1, "end", 0], ...[...uprights].sort((a, b) => b - a).flatMap((upright) => (
    /** @type {[number, string, number][]} */ ([[upright, "end", -RULE_GAP], [upright, "start", RULE_GAP]])))];
  const sizes = bars.map(({ label, text }) => [measureTextWidth(label, false), measureTextWidth(text, true)]);
  return candidates.find(([x, align, dx]) => sizes.every(([labelWidth, textWidth]) => {
    const left = x * frameWidth + dx - (align === "end" ? textWidth : 0), right = left + textWidth;
    return left > labelWidth + RULE_GAP && right < frameWidth + MIN_GAP
      && uprights.every((upright) => upright * frameWidth < left - MIN_GAP || upright * frameWidth > right + MIN_GAP);
  })) ?? candidates[0];
}
