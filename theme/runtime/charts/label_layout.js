// Label layout: chooses positions of chart texts off the curves and off one another, on phones and wide pages.

import { ALIGN_SHARES, DESKTOP, PHONE, SMALL, TABLET, WIDE, measureTextWidth } from "./frame.js";

const EPSILON = 0.01; // of a pixel, which decides nothing
const BOLD_LOOKS = new Set(["strong", "inside"]); // looks of bold letters
const TEXT_GAP = 4; // pixels between two texts, one beside the other
const LINE_GAP = 12; // pixels between two texts in a line that do not read as one
const ROW_GAP = 14; // pixels between two texts, one over the other, that do not seem to belong together
const RIGHT_OVERHANG = 12, TOP_OVERHANG = 19; // pixels that a text may reach out of the frame, to the right and up
const DOT_DISTANCE = 4; // pixels between the dots of a curve at most
const COLUMN_WIDTH = 24; // pixels
const SAME_POINT = 3; // pixels between two points that look like one
// Dots that a text would rather cover. An upright line is cut around a text, so its dots weigh little.
const OUTSIDE_COST = 100, OVERLAP_COST = 50, STRUCK_COST = 4, DOUBT_COST = 3, TOUCH_COST = 0.5, UPRIGHT_WEIGHT = 0.3;
// A curve is steep on a phone and flat on a wide page: a text has to be clear of it on all.
const CHART_WIDTHS = [SMALL, PHONE, TABLET, DESKTOP];
const MAX_ROUNDS = 3; // of looking again, since a text that came later may be in the way
const MIN_GAIN = 0.4; // that narrow and wide charts have to gain, for a text to have a place in each

const HIDDEN_BOX = [0, -Infinity, 0, -Infinity]; // the box of a text that is not shown

/** @typedef {import("./frame.js").TextMark} TextMark */
/** @typedef {{label: TextMark, cost: number, doubt?: () => number, of?: number[]}} Candidate a place, what
 *   speaks against it, what else does and takes longer to find out, and the point that it is a place of */
/** @typedef {{x: number, y: number, wide: number, high: number, named: boolean, weight?: number}} Marker a
 *   mark around a point, in pixels, whether the point has a label of its own, and what its dots weigh */
/** @typedef {{curves: number[][][], uprights: number[][][], knobs: Marker[], texts: TextMark[]}} Obstacles what
 *   the texts should be clear of */
/** @typedef {{width: number, height: number, knobs: Marker[], uprights: number[][][],
 *   columns: number[][]}} SizedFrame a frame as wide as on one page, and the dots that a text may cover there, by
 *   their columns: across, down, weight, one dot after the other */

/**
 * Returns each text at the candidate that crosses the fewest curves and other texts at any page width. Where
 * no such places are as good as places for narrow charts and for wide ones, a text has one for each.
 * @param {Candidate[][]} candidates the places each text may take, the best first
 * @param {Obstacles} obstacles
 * @param {{left: number, right: number, height: number}} frame
 * @returns {TextMark[][]}
 */
export function layoutLabels(candidates, obstacles, { left, right, height }) {
  const frames = CHART_WIDTHS.map((chart) => sizedFrame(chart - left - right, height, obstacles));
  const boxesOf = (text, wideWidth) => frames.map(({ width }) => textBox(text, wideWidth, width));
  const fixedTexts = obstacles.texts.map((text) => {
    const widths = shownWidths(text);
    return { boxes: boxesOf(text, markWidth(text)).map((box, k) => (widths.includes(CHART_WIDTHS[k]) ? box : HIDDEN_BOX)) };
  });
  const spots = candidates.map((options) => {
    const wideWidth = markWidth(options[0].label);
    // Where a spot lies in a room and what it costs there is found out when somebody asks, and kept.
    return options.map(({ label, cost, doubt, of }, i) => (
      { label, of, cost, doubt, rank: i / 300, wideWidth, boxes: [], costs: [] }
    ));
  });
  const solve = (/** @type {(chart: number) => boolean} */ isWanted) => {
    const indices = CHART_WIDTHS.flatMap((chart, k) => (isWanted(chart) ? [k] : []));
    return choosePlaces(spots, fixedTexts, frames, indices);
  };
  const common = solve(() => true);
  if (common.cost <= MIN_GAIN) return common.texts.map((text) => [text]); // no two places cost less than nothing
  const narrow = solve(isNarrow), wide = solve((chart) => !isNarrow(chart));
  if (common.cost <= narrow.cost + wide.cost + MIN_GAIN) return common.texts.map((text) => [text]);
  return narrow.texts.map((text, i) => {
    const other = wide.texts[i], isSame = text.x === other.x && text.y === other.y && text.dx === other.dx
      && text.align === other.align;
    return isSame ? [text] : [{ ...text, narrow: true }, { ...other, wide: true }];
  });
}

export function isNarrow(chart) {
  return chart < WIDE;
}

/** The widths at which a text or a line is shown. @param {{wide?: boolean, narrow?: boolean}} mark */
export function shownWidths(mark) {
  return CHART_WIDTHS.filter((chart) => !(isNarrow(chart) ? mark.wide : mark.narrow));
}

/** Which of its candidates each text took last: most often the cheapest again while a reader drags. */
const usualPlaces = new Map();

/** The places on charts of some widths, and what speaks against them. @param {number[]} indices */
function choosePlaces(spots, fixedTexts, frames, indices) {
  const choices = [];
  for (let round = 0, moved = true; moved && round < MAX_ROUNDS; round++) {
    moved = false;
    spots.forEach((options, i) => {
      const others = [...fixedTexts, ...choices.map(({ spot }) => spot).filter((_, k) => k !== i)];
      const key = `${indices} ${options[0].label.text}`;
      const next = cheapest(options, others, frames, indices, choices[i]?.spot ?? options[usualPlaces.get(key)]);
      usualPlaces.set(key, options.indexOf(next.spot));
      moved ||= next.spot !== choices[i]?.spot;
      choices[i] = next;
    });
  }
  return { texts: choices.map(({ spot }) => spot.label), cost: sum(choices.map(({ lowest }) => lowest)) };
}

/**
 * The cheapest spot beside others; one that cannot be it is not looked at. The spot of the round before, or
 * that of the picture before, says first how little it may cost.
 */
function cheapest(spots, others, frames, indices, before) {
  const fraction = indices.length / CHART_WIDTHS.length;
  const costBelow = (spot, limit) => {
    const spotCost = ownCost(spot, fraction, frames, indices, limit);
    let crowding = 0;
    for (let i = 0; i < others.length && spotCost + crowding < limit; i++) {
      crowding += crowdingCost(spot.boxes, others[i].boxes, indices);
    }
    return spotCost + crowding;
  };
  const enough = before ? costBelow(before, Infinity) + EPSILON : Infinity;
  let cheapestSpot = spots[0], lowest = Infinity;
  for (const spot of spots) {
    const cost = costBelow(spot, Math.min(lowest, enough));
    if (cost < lowest && cost < enough) [cheapestSpot, lowest] = [spot, cost];
  }
  return { spot: cheapestSpot, lowest };
}

/** What speaks against a spot in some rooms, or a part of it that is too much already. */
function ownCost(spot, fraction, frames, indices, limit) {
  const atLeast = fraction * (spot.cost + spot.rank);
  if (atLeast >= limit) return atLeast;
  if (spot.doubt) [spot.cost, spot.doubt] = [spot.cost + spot.doubt(), undefined];
  const least = fraction * (spot.cost + spot.rank);
  let cost = 0;
  for (const k of indices) {
    if (least + cost >= limit) break;
    cost += spot.costs[k] ??= placeCost(spot, k, frames[k]);
  }
  return least + cost;
}

/** What speaks against a spot in a room. */
function placeCost(spot, k, frame) {
  const box = spot.boxes[k] = textBox(spot.label, spot.wideWidth, frame.width);
  return coverCost(box, frame) + ambiguityCost(box, spot.of, frame);
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** @param {Obstacles} drawn @returns {SizedFrame} */
function sizedFrame(width, height, { curves, uprights, knobs }) {
  /** @type {SizedFrame["columns"]} */
  const columns = [];
  const addDot = (x, y, weight) => (columns[columnIndex(x)] ??= []).push(x, y, weight);
  for (const curve of curves) sampleCurve(curve, width, 1, addDot);
  for (const line of uprights) sampleCurve(line, width, UPRIGHT_WEIGHT, addDot);
  for (const marker of knobs) sampleMarker(marker, width, addDot);
  return { width, height, knobs, uprights, columns };
}

function columnIndex(x) {
  return Math.max(0, Math.floor(x / COLUMN_WIDTH));
}

export function markWidth({ text, look }) {
  return measureTextWidth(text, BOLD_LOOKS.has(look));
}

export function textBox({ x, y, dx, align }, textWidth, frameWidth) {
  const left = x * frameWidth + dx - ALIGN_SHARES[align] * textWidth;
  return [left, y - 12, left + textWidth, y + 4];
}

function coverCost([left, top, right, bottom], { width, height, columns }) {
  let cost = left < -2 || right > width + RIGHT_OVERHANG || top < -TOP_OVERHANG || bottom > height ? OUTSIDE_COST : 0;
  let struckCost = 0;
  const from = left + EPSILON, to = right - EPSILON, last = columnIndex(right);
  for (let k = columnIndex(left); k <= last; k++) {
    const dots = columns[k] ?? [];
    for (let i = 0; i < dots.length; i += 3) {
      const x = dots[i], y = dots[i + 1], weight = dots[i + 2];
      if (!(from < x && x < to && top < y && y < bottom)) continue;
      cost += weight;
      if (weight >= 1) struckCost = STRUCK_COST;
    }
  }
  return cost + struckCost;
}

/** What it costs that a point's label is nearer to other points, or to a line that parts them. */
function ambiguityCost(box, point, { width, knobs, uprights }) {
  if (!point) return 0;
  const [x, y] = point, ownDistance = distance(box, x * width, y), [left, , right] = box;
  const nearer = knobs.filter((knob) => (
    knob.named && Math.hypot((knob.x - x) * width, knob.y - y) > SAME_POINT
      && distance(box, knob.x * width, knob.y) < ownDistance));
  const parting = uprights.filter(([[at]]) => (
    at > x && at * width <= left + EPSILON || at < x && at * width >= right - EPSILON));
  return DOUBT_COST * (nearer.length + parting.length);
}

function distance([left, top, right, bottom], x, y) {
  return Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
}

/** What it costs that two texts are near each other, in some rooms. */
function crowdingCost(boxes, others, indices) {
  let cost = 0;
  for (const k of indices) {
    const [left, top, right, bottom] = boxes[k], [x, y, r, b] = others[k];
    if (left < r + TEXT_GAP && right > x - TEXT_GAP && top < b && bottom > y) cost += OVERLAP_COST;
    else if (left < r && right > x && top < b + ROW_GAP && bottom > y - ROW_GAP) cost += TOUCH_COST;
    else if (left < r + LINE_GAP && right > x - LINE_GAP && top < b && bottom > y) cost += TOUCH_COST;
  }
  return cost;
}

function sampleCurve(curve, width, weight, addDot) {
  for (let k = 1; k < curve.length; k++) {
    const [x0, y0] = curve[k - 1], [x1, y1] = curve[k];
    const span = Math.max(Math.abs(x1 - x0) * width, Math.abs(y1 - y0));
    const steps = Math.max(1, Math.ceil(span / DOT_DISTANCE));
    for (let i = 0; i <= steps; i++) {
      addDot((x0 + ((x1 - x0) * i) / steps) * width, y0 + ((y1 - y0) * i) / steps, weight);
    }
  }
}

/** A knob weighs as much as curves that run across it. */
function sampleMarker({ x, y, wide, high, weight = 1 }, width, addDot) {
  const count = Math.ceil(wide / DOT_DISTANCE);
  for (let i = -count; i <= count; i++) {
    const at = x * width + (i * wide) / count;
    addDot(at, y - high, weight);
    addDot(at, y + high, weight);
  }
}
