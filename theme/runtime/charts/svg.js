/**
 * SVG of a chart: the static picture of a page, drawn at build and wherever BokehJS is missing, and
 * the marks of a file. Few elements, because a page carries them all: what is stretched with the
 * page's width lies in one inner drawing, as one path for all marks of a group that look the same;
 * texts and rings, which keep their shape, lie beside it.
 */

import { ringRadius } from "./frame.js";
import { layoutChart } from "./chart_layout.js";
import { simplifyCurve } from "./simplify.js";

/** @typedef {import("./frame.js").LineMark} LineMark */
/** @typedef {import("./frame.js").BoxMark} BoxMark */
/** @typedef {import("./frame.js").TextMark} TextMark */

const SCALE = 1000; // units of the inner drawing across the frame

/**
 * For a page, which gives it colors and a width.
 * @param {any} view
 * @param {string} label the picture in words
 * @param {import("./frame.js").Picture} [marks] its marks
 */
export function chartSvg(view, label, marks = layoutChart(view)) {
  const { left, right, top, bottom, height, wideTop = top } = marks.frame;
  const [leftMargin, horizontalMargins] = [left, left + right].map((value) => formatNumber(value));
  const margins = `margin:${top}px ${right}px ${bottom}px ${leftMargin}px;width:calc(100% - ${horizontalMargins}px)`
    + (wideTop === top ? "" : `;--wide-top:${wideTop}px`);
  return `<svg class="chart-svg" role="img" `
    + `style="${margins};height:${height}px" aria-label="${escapeMarkup(label)}">${svgMarks(marks)}</svg>`;
}

/** All marks, each group over the one before. @param {import("./frame.js").Picture} drawn */
export function svgMarks({ frame: { height }, back, boxes, curves, front, rings, words }) {
  const paths = linePaths(back) + boxPaths(boxes) + curves.map(curvePath).join("") + linePaths(front);
  return `<svg viewBox="0 0 ${SCALE} ${height}" preserveAspectRatio="none" overflow="visible" `
    + `width="100%" height="${height}">${paths}</svg>${rings.map(ringElement).join("")}${textGroups(words)}`;
}

/** A text with nothing in it that means something in markup. @param {string} text */
export function escapeMarkup(text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A coordinate with few decimals. @param {number} value @param {number} [decimals] */
function formatNumber(value, decimals = 1) {
  return String(Number(value.toFixed(decimals)) || 0);
}

function formatAcross(share) {
  return formatNumber(share * SCALE);
}

/** One path for all marks with the same attributes, in the order of the first ones. */
function groupedPaths(marks, attributesOf, cornersOf) {
  const groups = new Map();
  for (const mark of marks) {
    const attributes = attributesOf(mark);
    groups.set(attributes, [...(groups.get(attributes) ?? []), cornersOf(mark)]);
  }
  return [...groups].map(([attributes, each]) => `<path ${attributes} d="${pathData(each)}"/>`).join("");
}

/**
 * From corner to corner, and on to the next piece, in steps rather than places: of pieces of one size
 * at one distance all but the first read the same, which a page's compression makes nothing of.
 * @param {[number, number][][]} pieces shares across, pixels down
 */
function pathData(pieces) {
  let position = [0, 0];
  const moveTo = (/** @type {[number, number]} */ [x, y], /** @type {number} */ corner) => {
    const target = [x * SCALE, y].map((value) => Math.round(value * 10));
    const [right, down] = target.map((value, i) => value - position[i]);
    position = target;
    if (corner === 0) return `m${formatPair(right, down)}`;
    return down ? (right ? `l${formatPair(right, down)}` : `v${formatStep(down)}`) : horizontalStep(right, target[0]);
  };
  return pieces.flatMap((piece) => piece.map(moveTo)).join("").replace("m", "M");
}

/** A step to the side, or the place it leads to where that is shorter: back to the axis is `H0`. */
function horizontalStep(by, to) {
  const [step, place] = [formatStep(by), formatStep(to)];
  return place.length + 1 < step.length ? `H${place}` : `h${step}`;
}

function formatStep(tenths) {
  return stepText(tenths).trimStart();
}

function formatPair(right, down) {
  return formatStep(right) + stepText(down);
}

/** @param {LineMark[]} lines */
function linePaths(lines) {
  const look = ({ look: name, color, width, ...on }) =>
    `class="line ${name}${widthClass(on)} c-${color}"${width ? ` style="stroke-width:${formatNumber(width)}px"` : ""}`;
  return groupedPaths(lines, look, ({ points }) => points);
}

/** @param {LineMark} line */
function curvePath({ points, look, color }) {
  // A tenth is a tenth of a pixel up, and about that across.
  const simplified = simplifyCurve(points.map(([x, y]) => [x * SCALE, y]));
  const [start, ...rest] = simplified.map((point) => point.map((value) => Math.round(value * 10)));
  let position = start, steps = "";
  for (const point of rest) {
    steps += point.map((value, i) => stepText(value - position[i])).join("");
    position = point;
  }
  const path = `M${start.map((value) => formatNumber(value / 10)).join(" ")}${steps && `l${steps.trimStart()}`}`;
  return `<path class="line ${look} c-${color}" d="${path}"/>`;
}

/** A step in tenths: its sign or a space parts it from the one before. @param {number} tenths */
function stepText(tenths) {
  const text = formatNumber(tenths / 10).replace(/^(-?)0\./, "$1.");
  return text.startsWith("-") ? text : ` ${text}`;
}

/** The class of what is shown on wide charts only, or on narrow ones. */
function widthClass({ wide, narrow }) {
  return wide ? " wide" : narrow ? " narrow" : "";
}

/**
 * Filled boxes, and stripes of paper over the hatched ones. Those that follow one another and look the
 * same are one: what parts them is drawn over them. Stripes begin anew with each.
 * @param {BoxMark[]} allBoxes
 */
function boxPaths(allBoxes) {
  const boxes = allBoxes.reduce((merged, box) => {
    const index = merged.findIndex((before) => isContinued(before, box));
    return index < 0 ? [...merged, box] : merged.with(index, { ...merged[index], x1: box.x1 });
  }, /** @type {BoxMark[]} */ ([]));
  const fill = ({ color, strength }) =>
    `class="c-${color}"${strength < 1 ? ` fill-opacity="${formatNumber(strength, 2)}"` : ""}`;
  const corners = ({ x0, x1, y0, y1 }) => [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
  const height = ({ y0, y1 }) => `class="stripes" stroke-width="${formatNumber(y1 - y0)}"`;
  const middle = ({ x0, x1, y0, y1 }) => [x0, x1].map((x) => [x, (y0 + y1) / 2]);
  const seen = boxes.filter(({ x0, x1 }) => formatAcross(x0) !== formatAcross(x1));
  return groupedPaths(seen, fill, corners) + groupedPaths(allBoxes.filter((box) => box.hatched), height, middle);
}

/** Whether a box begins where one before it ends. @param {BoxMark} previous @param {BoxMark} box */
function isContinued(previous, box) {
  const isAlike = ["y0", "y1", "color", "strength", "hatched"].every((part) => previous[part] === box[part]);
  return isAlike && formatAcross(previous.x1) === formatAcross(box.x0);
}

function ringElement({ x, y, color, small, filled, ...on }) {
  const look = `ring${small ? " small" : ""}${filled ? " filled" : ""}${widthClass(on)}`;
  return `<circle class="${look} c-${color}" cx="${formatPercent(x)}" cy="${formatNumber(y)}" r="${ringRadius({ small })}"/>`;
}

/** @param {number} share @param {number} [decimals] */
function formatPercent(share, decimals = 2) {
  return `${formatNumber(100 * share, decimals)}%`;
}

/** Those that look the same share a group: none lies over another. @param {TextMark[]} words */
function textGroups(words) {
  const groups = new Map();
  for (const { x, y, text, align, dx, color, look, wide, narrow } of words) {
    const classes = `${look}${look === "label" || look === "strong" ? " halo" : ""}${widthClass({ wide, narrow })}`;
    const attributes = `class="${classes} c-${color}"${align === "start" ? "" : ` text-anchor="${align}"`}`;
    const shift = dx ? ` dx="${formatNumber(dx)}"` : "";
    // A tenth of a percent and half a pixel are not seen of a text.
    const xAttribute = x ? ` x="${formatPercent(x, 1)}"` : "";
    const element = `<text${xAttribute} y="${formatNumber(y, 0)}"${shift}>${escapeMarkup(text)}</text>`;
    groups.set(attributes, (groups.get(attributes) ?? "") + element);
  }
  return [...groups].map(([attributes, inside]) => `<g ${attributes}>${inside}</g>`).join("");
}
