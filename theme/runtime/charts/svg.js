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
  const margins = `margin:${top}px ${right}px ${bottom}px ${left}px;width:calc(100% - ${left + right}px)`
    + (wideTop === top ? "" : `;--wide-top:${wideTop}px`);
  return `<svg xmlns="http://www.w3.org/2000/svg" class="chart-svg" role="img" `
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
function paths(all, look, path) {
  const found = new Map();
  for (const one of all) {
    const attributes = look(one);
    found.set(attributes, (found.get(attributes) ?? "") + path(one));
  }
  return [...found].map(([attributes, d]) => `<path ${attributes} d="${d}"/>`).join("");
}

/** @param {Line[]} lines */
function straight(lines) {
  const look = ({ look: name, color, width, ...on }) =>
    `class="line ${name}${pagesOf(on)} c-${color}"${width ? ` style="stroke-width:${number(width)}px"` : ""}`;
  return paths(lines, look, ({ points: [[x1, y1], [x2, y2]] }) => {
    const start = `M${across(x1)} ${number(y1)}`;
    if (x1 === x2) return `${start}v${number(y2 - y1)}`;
    return y1 === y2 ? `${start}h${across(x2 - x1)}` : `${start}L${across(x2)} ${number(y2)}`;
  });
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
  // Steps, not places: of boxes of one size all but the first corner reads the same.
  const outline = ({ x0, x1, y0, y1 }) =>
    `M${across(x0)} ${number(y0)}h${across(x1 - x0)}v${number(y1 - y0)}h${across(x0 - x1)}`;
  const height = ({ y0, y1 }) => `class="stripes" stroke-width="${number(y1 - y0)}"`;
  const middle = ({ x0, x1, y0, y1 }) =>
    `M${across(x0)} ${number((y0 + y1) / 2)}h${across(x1 - x0)}`;
  return paths(boxes, fill, outline) + paths(all.filter((one) => one.hatched), height, middle);
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

function percent(share) {
  return `${number(100 * share, 2)}%`;
}

/** Those that look the same share a group: none lies over another. @param {Words[]} words */
function texts(words) {
  const found = new Map();
  for (const { x, y, text, align, dx, color, look, wide, narrow } of words) {
    const classes = `${look}${look === "label" || look === "strong" ? " halo" : ""}${pagesOf({ wide, narrow })}`;
    const attributes = `class="${classes} c-${color}"${align === "start" ? "" : ` text-anchor="${align}"`}`;
    const shift = dx ? ` dx="${number(dx)}"` : "";
    const one = `<text x="${percent(x)}" y="${number(y)}"${shift}>${safe(text)}</text>`;
    found.set(attributes, (found.get(attributes) ?? "") + one);
  }
  return [...found].map(([attributes, inside]) => `<g ${attributes}>${inside}</g>`).join("");
}
