// Bokeh columns: a picture's marks as data of the Bokeh document's sources, in the page's colors.

import { WIDE, ringRadius } from "./frame.js";

// Width and dash of a line by its look, as in styles/40-charts.css.
const LINE_STYLES = {
  curve: [2.25, "solid"], dashed: [2.25, "6 4"], rule: [1.25, "3 3"], drop: [1.25, "1 3"],
  grid: [1, "solid"], axis: [1, "solid"], tick: [1, "solid"], seam: [1, "solid"], swatch: [12, "solid"],
  idle: [24, "2 4"],
};
const ANCHORS = { start: "bottom_left", middle: "bottom_center", end: "bottom_right" };
const FONT_SIZES = { tick: 12, cell: 11 };
const DEFAULT_COLOR = "gray"; // what no style names
const NO_VALUE = "\u2013"; // where a curve has no point
const BOLD = new Set(["strong", "inside"]), HALO = new Set(["strong", "label"]);

/** @type {Map<string, string>} */
const colorCache = new Map();

/** A color by its name, read from the style sheet once per color scheme. @param {string} name */
function cssColor(name) {
  if (!colorCache.has(name)) {
    const style = getComputedStyle(document.documentElement);
    colorCache.set(name, style.getPropertyValue(`--${name}`).trim() || DEFAULT_COLOR);
  }
  return /** @type {string} */ (colorCache.get(name));
}

/** The color of letters, which have to stand out more than surfaces. @param {string} name */
function textColor(name) {
  const ownColor = cssColor(`${name}-text`);
  return ownColor === DEFAULT_COLOR ? cssColor(name) : ownColor;
}

/** Clears the cached colors. */
export function clearColorCache() {
  colorCache.clear();
}

/**
 * The data of every source of the document.
 * @param {import("./frame.js").Picture} picture
 * @param {any} view
 * @param {string} family the font
 * @param {number} width of the chart, pixels
 */
export function bokehColumns(picture, view, family, width) {
  const paper = cssColor("paper"), words = picture.words.filter(isShownOn(width));
  const haloed = words.filter((word) => HALO.has(word.look));
  return {
    back: lineColumns(picture.back),
    ...movingColumns(picture, width),
    halo: { ...textColumns(haloed, family), color: haloed.map(() => paper) },
    words: { ...textColumns(words, family), color: words.map((w) => textColor(w.color)) },
    probe: probeColumns(view, picture),
  };
}

/** Whether a mark is shown on a chart of so many pixels. @param {number} width */
function isShownOn(width) {
  return (/** @type {{wide?: boolean, narrow?: boolean}} */ mark) => !(width < WIDE ? mark.wide : mark.narrow);
}

/** The data of what moves. @param {import("./frame.js").Picture} picture @param {number} width of the chart, pixels */
export function movingColumns(picture, width) {
  const paper = cssColor("paper"), { boxes } = picture, rings = picture.rings.filter(isShownOn(width));
  const striped = boxes.filter((box) => box.hatched);
  return {
    boxes: {
      x0: boxes.map((b) => b.x0), x1: boxes.map((b) => b.x1),
      y0: boxes.map((b) => b.y0), y1: boxes.map((b) => b.y1),
      color: boxes.map((b) => cssColor(b.color)), strength: boxes.map((b) => b.strength),
      label: boxes.map((b) => b.called ?? b.label), text: boxes.map((b) => b.text),
    },
    stripes: {
      x0: striped.map((b) => b.x0), x1: striped.map((b) => b.x1),
      y: striped.map((b) => (b.y0 + b.y1) / 2), width: striped.map((b) => b.y1 - b.y0),
      color: striped.map(() => paper),
    },
    curves: lineColumns(picture.curves),
    front: lineColumns(picture.front.filter(isShownOn(width))),
    rings: {
      x: rings.map((r) => r.x), y: rings.map((r) => r.y),
      color: rings.map((r) => cssColor(r.color)), fill: rings.map((r) => (r.filled ? cssColor(r.color) : paper)),
      size: rings.map((r) => 2 * ringRadius(r)), width: rings.map((r) => (r.small ? 1.5 : 2.5)),
    },
  };
}

function textColumns(words, family) {
  return {
    x: words.map((w) => w.x), y: words.map((w) => w.y), dx: words.map((w) => w.dx),
    dy: words.map((w) => baselineShift(w, family)),
    text: words.map((w) => w.text), anchor: words.map((w) => ANCHORS[w.align]),
    size: words.map((w) => `${fontSize(w)}px`), style: words.map(fontStyle),
  };
}

function fontSize({ look }) {
  return FONT_SIZES[look] ?? 13;
}

function fontStyle({ look }) {
  return BOLD.has(look) ? "bold" : "normal";
}

/** @type {CanvasRenderingContext2D | null} */
let canvasContext = null;
/** @type {Map<string, number>} */
const descents = new Map();

/** How far below its box's foot Bokeh has to draw a text for its baseline to lie at y. */
function baselineShift(word, family) {
  if (/^[\d,.+\-\u2212e]*$/.test(word.text)) return 0; // a plain number's box ends at its baseline
  const font = `${fontStyle(word)} ${fontSize(word)}px ${family}`;
  if (!descents.has(font)) {
    canvasContext ??= /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    canvasContext.font = font;
    descents.set(font, canvasContext.measureText("x").fontBoundingBoxDescent);
  }
  return /** @type {number} */ (descents.get(font));
}

function lineColumns(group) {
  return {
    xs: group.map((line) => line.points.map(([x]) => x)),
    ys: group.map((line) => line.points.map(([, y]) => y)),
    color: group.map((line) => cssColor(line.color)),
    dash: group.map((line) => LINE_STYLES[line.look][1]),
    width: group.map((line) => line.width || LINE_STYLES[line.look][0]),
  };
}

/** Returns the hover data of curves: every x of a series, with the texts of the series there. */
function probeColumns(view, picture) {
  if (view.kind !== "lines" || !view.series.length) return { x: [], y: [] };
  const columns = view.series.map(({ key }) => view.columns[key]);
  const textByPosition = new Map(columns.flatMap(({ x, x_text }) => x.map((at, i) => [at, x_text[i]])));
  const positions = [...textByPosition.keys()].sort((a, b) => a - b);
  const fractions = probeFractions(view.x, positions);
  const y = fractions.map(() => picture.frame.height / 2);
  const data = { x: fractions, y, x_text: positions.map((at) => textByPosition.get(at)) };
  columns.forEach(({ x, y_text }, i) => {
    const texts = new Map(x.map((at, k) => [at, y_text[k]]));
    data[`t${i}`] = positions.map((at) => texts.get(at) ?? NO_VALUE);
  });
  return data;
}

function probeFractions(axis, values) {
  const scale = axis.scale === "log" ? Math.log : (value) => value;
  const low = scale(axis.low), extent = scale(axis.high) - low || 1;
  return values.map((value) => (scale(value) - low) / extent);
}

/** The tooltip over curves: Bokeh fills in the columns named after an at sign. */
export function tooltipHtml(view) {
  const rows = [[view.x.label, "@x_text"], ...view.series.map((s, i) => [s.label, `@t${i}`])];
  const grid = "display:grid;grid-template-columns:auto auto;gap:0 1em";
  const cells = rows.map(([label, column]) =>
    `<span>${escapeText(label)}</span><b style="text-align:right">${column}</b>`);
  return `<div style="${grid}">${cells.join("")}</div>`;
}

/** Escapes markup and column names in a text. */
function escapeText(text) {
  return text.replace(/[&<>"@$]/g, (character) => `&#${character.charCodeAt(0)};`);
}
