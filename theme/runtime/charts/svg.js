/**
 * A chart as SVG: the static picture of a page, drawn at build and wherever BokehJS is missing, and
 * the marks of a file. Few elements, because a page carries them all: what is stretched with the
 * page's width lies in one inner drawing, as one path for all marks of a group that look the same;
 * texts and rings, which keep their shape, lie beside it.
 */

import { radiusOf } from "./frame.js";
import { picture } from "./picture.js";
import { simplified } from "./simplify.js";

/** @typedef {import("./frame.js").Line} Line */
/** @typedef {import("./frame.js").Box} Box */
/** @typedef {import("./frame.js").Words} Words */

const SCALE = 1000; // units of the inner drawing across the frame

/**
 * For a page, which gives it colors and a width.
 * @param {any} view
 * @param {string} label the picture in words
 * @param {import("./frame.js").Picture} [drawn] its marks
 */
export function svgText(view, label, drawn = picture(view)) {
  const { left, right, top, bottom, height, wideTop = top } = drawn.frame;
  const [before, aside] = [left, left + right].map((value) => number(value));
  const margins = `margin:${top}px ${right}px ${bottom}px ${before}px;width:calc(100% - ${aside}px)`
    + (wideTop === top ? "" : `;--wide-top:${wideTop}px`);
  return `<svg class="chart-svg" role="img" `
    + `style="${margins};height:${height}px" aria-label="${safe(label)}">${marks(drawn)}</svg>`;
}

/** All marks, each group over the one before. @param {import("./frame.js").Picture} drawn */
export function marks({ frame: { height }, back, boxes, curves, front, rings, words }) {
  const paths = straight(back) + filled(boxes) + curves.map(curve).join("") + straight(front);
  return `<svg viewBox="0 0 ${SCALE} ${height}" preserveAspectRatio="none" overflow="visible" `
    + `width="100%" height="${height}">${paths}</svg>${rings.map(ring).join("")}${texts(words)}`;
}

/** A text with nothing in it that means something in markup. @param {string} text */
export function safe(text) {
  return text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
}

/** A coordinate with few decimals. @param {number} value @param {number} [decimals] */
function number(value, decimals = 1) {
  return String(Number(value.toFixed(decimals)) || 0);
}

function across(share) {
  return number(share * SCALE);
}

/** One path for all marks with the same attributes, in the order of the first ones. */
function paths(all, look, corners) {
  const found = new Map();
  for (const one of all) {
    const attributes = look(one);
    found.set(attributes, [...(found.get(attributes) ?? []), corners(one)]);
  }
  return [...found].map(([attributes, each]) => `<path ${attributes} d="${outline(each)}"/>`).join("");
}

/**
 * From corner to corner, and on to the next piece, in steps rather than places: of pieces of one size
 * at one distance all but the first read the same, which a page's compression makes nothing of.
 * @param {[number, number][][]} pieces shares across, pixels down
 */
function outline(pieces) {
  let at = [0, 0];
  const go = (/** @type {[number, number]} */ [x, y], /** @type {number} */ corner) => {
    const to = [x * SCALE, y].map((value) => Math.round(value * 10));
    const [right, down] = to.map((value, i) => value - at[i]);
    at = to;
    if (corner === 0) return `m${pair(right, down)}`;
    return down ? (right ? `l${pair(right, down)}` : `v${single(down)}`) : sideways(right, to[0]);
  };
  return pieces.flatMap((piece) => piece.map(go)).join("").replace("m", "M");
}

/** A step to the side, or the place it leads to where that is shorter: back to the axis is `H0`. */
function sideways(by, to) {
  const [step, place] = [single(by), single(to)];
  return place.length + 1 < step.length ? `H${place}` : `h${step}`;
}

function single(tenths) {
  return step(tenths).trimStart();
}

function pair(right, down) {
  return single(right) + step(down);
}

/** @param {Line[]} lines */
function straight(lines) {
  const look = ({ look: name, color, width, ...on }) =>
    `class="line ${name}${pagesOf(on)} c-${color}"${width ? ` style="stroke-width:${number(width)}px"` : ""}`;
  return paths(lines, look, ({ points }) => points);
}

/** @param {Line} line */
function curve({ points, look, color }) {
  // A tenth is a tenth of a pixel up, and about that across.
  const kept = simplified(points.map(([x, y]) => [x * SCALE, y]));
  const [start, ...rest] = kept.map((point) => point.map((value) => Math.round(value * 10)));
  let at = start, steps = "";
  for (const point of rest) {
    steps += point.map((value, i) => step(value - at[i])).join("");
    at = point;
  }
  const path = `M${start.map((value) => number(value / 10)).join(" ")}${steps && `l${steps.trimStart()}`}`;
  return `<path class="line ${look} c-${color}" d="${path}"/>`;
}

/** A step in tenths: its sign or a space parts it from the one before. @param {number} tenths */
function step(tenths) {
  const text = number(tenths / 10).replace(/^(-?)0\./, "$1.");
  return text.startsWith("-") ? text : ` ${text}`;
}

/** The class of what is shown on wide charts only, or on narrow ones. */
function pagesOf({ wide, narrow }) {
  return wide ? " wide" : narrow ? " narrow" : "";
}

/**
 * Filled boxes, and stripes of paper over the hatched ones. Those that follow one another and look the
 * same are one: what parts them is drawn over them. Stripes begin anew with each.
 * @param {Box[]} all
 */
function filled(all) {
  const boxes = all.reduce((found, one) => {
    const at = found.findIndex((before) => continues(before, one));
    return at < 0 ? [...found, one] : found.with(at, { ...found[at], x1: one.x1 });
  }, /** @type {Box[]} */ ([]));
  const fill = ({ color, strength }) =>
    `class="c-${color}"${strength < 1 ? ` fill-opacity="${number(strength, 2)}"` : ""}`;
  const corners = ({ x0, x1, y0, y1 }) => [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
  const height = ({ y0, y1 }) => `class="stripes" stroke-width="${number(y1 - y0)}"`;
  const middle = ({ x0, x1, y0, y1 }) => [x0, x1].map((x) => [x, (y0 + y1) / 2]);
  const seen = boxes.filter(({ x0, x1 }) => across(x0) !== across(x1));
  return paths(seen, fill, corners) + paths(all.filter((one) => one.hatched), height, middle);
}

/** Whether a box begins where one before it ends. @param {Box} before @param {Box} one */
function continues(before, one) {
  const alike = ["y0", "y1", "color", "strength", "hatched"].every((part) => before[part] === one[part]);
  return alike && across(before.x1) === across(one.x0);
}

function ring({ x, y, color, small, filled, ...on }) {
  const look = `ring${small ? " small" : ""}${filled ? " filled" : ""}${pagesOf(on)}`;
  return `<circle class="${look} c-${color}" cx="${percent(x)}" cy="${number(y)}" r="${radiusOf({ small })}"/>`;
}

/** @param {number} share @param {number} [decimals] */
function percent(share, decimals = 2) {
  return `${number(100 * share, decimals)}%`;
}

/** Those that look the same share a group: none lies over another. @param {Words[]} words */
function texts(words) {
  const found = new Map();
  for (const { x, y, text, align, dx, color, look, wide, narrow } of words) {
    const classes = `${look}${look === "label" || look === "strong" ? " halo" : ""}${pagesOf({ wide, narrow })}`;
    const attributes = `class="${classes} c-${color}"${align === "start" ? "" : ` text-anchor="${align}"`}`;
    const shift = dx ? ` dx="${number(dx)}"` : "";
    // A tenth of a percent and half a pixel are not seen of a text.
    const place = x ? ` x="${percent(x, 1)}"` : "";
    const one = `<text${place} y="${number(y, 0)}"${shift}>${safe(text)}</text>`;
    found.set(attributes, (found.get(attributes) ?? "") + one);
  }
  return [...found].map(([attributes, inside]) => `<g ${attributes}>${inside}</g>`).join("");
}
