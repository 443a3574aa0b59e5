// A picture's marks as the columns of the Bokeh document's sources, in the page's colors.

import { WIDE, radiusOf } from "./frame.js";

// Width and dash of a line by its look, as in styles/40-charts.css.
const LOOKS = {
  curve: [2.25, "solid"], dashed: [2.25, "6 4"], rule: [1.25, "3 3"], drop: [1.25, "1 3"],
  grid: [1, "solid"], axis: [1, "solid"], tick: [1, "solid"], seam: [1, "solid"], swatch: [12, "solid"],
  idle: [24, "2 4"],
};
const ANCHOR = { start: "bottom_left", middle: "bottom_center", end: "bottom_right" };
const SIZES = { tick: 12, cell: 11 };
const NONE = "gray"; // what no style names
const NOTHING = "\u2013"; // where a curve has no point
const BOLD = new Set(["strong", "inside"]), HALO = new Set(["strong", "label"]);

/** @type {Map<string, string>} */
const found = new Map();

/** A color by its name, read from the style sheet once per color scheme. @param {string} name */
export function color(name) {
  if (!found.has(name)) {
    const style = getComputedStyle(document.documentElement);
    found.set(name, style.getPropertyValue(`--${name}`).trim() || NONE);
  }
  return /** @type {string} */ (found.get(name));
}

/** The color of letters, which have to stand out more than surfaces. @param {string} name */
function inkOf(name) {
  const own = color(`${name}-text`);
  return own === NONE ? color(name) : own;
}

/** After this the colors are read anew. */
export function forgetColors() {
  found.clear();
}

/**
 * The data of every source of the document.
 * @param {import("./frame.js").Picture} drawn
 * @param {any} view
 * @param {string} family the font
 * @param {number} width of the chart, pixels
 */
export function columns(drawn, view, family, width) {
  const paper = color("paper"), { boxes } = drawn;
  const shown = (one) => !(width < WIDE ? one.wide : one.narrow), rings = drawn.rings.filter(shown);
  const words = drawn.words.filter(shown);
  const haloed = words.filter((one) => HALO.has(one.look));
  const striped = boxes.filter((box) => box.hatched);
  return {
    back: lineColumns(drawn.back),
    boxes: {
      x0: boxes.map((b) => b.x0), x1: boxes.map((b) => b.x1),
      y0: boxes.map((b) => b.y0), y1: boxes.map((b) => b.y1),
      color: boxes.map((b) => color(b.color)), strength: boxes.map((b) => b.strength),
      label: boxes.map((b) => b.called ?? b.label), text: boxes.map((b) => b.text),
    },
    stripes: {
      x0: striped.map((b) => b.x0), x1: striped.map((b) => b.x1),
      y: striped.map((b) => (b.y0 + b.y1) / 2), width: striped.map((b) => b.y1 - b.y0),
      color: striped.map(() => paper),
    },
    curves: lineColumns(drawn.curves),
    front: lineColumns(drawn.front.filter(shown)),
    rings: {
      x: rings.map((r) => r.x), y: rings.map((r) => r.y),
      color: rings.map((r) => color(r.color)), fill: rings.map((r) => (r.filled ? color(r.color) : paper)),
      size: rings.map((r) => 2 * radiusOf(r)), width: rings.map((r) => (r.small ? 1.5 : 2.5)),
    },
    halo: { ...wordColumns(haloed, family), color: haloed.map(() => paper) },
    words: { ...wordColumns(words, family), color: words.map((w) => inkOf(w.color)) },
    probe: probe(view, drawn),
  };
}

function wordColumns(words, family) {
  return {
    x: words.map((w) => w.x), y: words.map((w) => w.y), dx: words.map((w) => w.dx),
    dy: words.map((w) => baseline(w, family)),
    text: words.map((w) => w.text), anchor: words.map((w) => ANCHOR[w.align]),
    size: words.map((w) => `${sizeOf(w)}px`), style: words.map(styleOf),
  };
}

function sizeOf({ look }) {
  return SIZES[look] ?? 13;
}

function styleOf({ look }) {
  return BOLD.has(look) ? "bold" : "normal";
}

/** @type {CanvasRenderingContext2D | null} */
let pen = null;
/** @type {Map<string, number>} */
const descents = new Map();

/** How far below its box's foot Bokeh has to draw a text for its baseline to lie at y. */
function baseline(one, family) {
  if (/^[\d,.+\-\u2212e]*$/.test(one.text)) return 0; // a plain number's box ends at its baseline
  const font = `${styleOf(one)} ${sizeOf(one)}px ${family}`;
  if (!descents.has(font)) {
    pen ??= /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    pen.font = font;
    descents.set(font, pen.measureText("x").fontBoundingBoxDescent);
  }
  return /** @type {number} */ (descents.get(font));
}

function lineColumns(group) {
  return {
    xs: group.map((line) => line.points.map(([x]) => x)),
    ys: group.map((line) => line.points.map(([, y]) => y)),
    color: group.map((line) => color(line.color)),
    dash: group.map((line) => LOOKS[line.look][1]),
    width: group.map((line) => line.width || LOOKS[line.look][0]),
  };
}

/** What the pointer meets over curves: every x of a series, with the texts of the series there. */
function probe(view, drawn) {
  if (view.kind !== "lines" || !view.series.length) return { x: [], y: [] };
  const columns = view.series.map(({ key }) => view.columns[key]);
  const named = new Map(columns.flatMap(({ x, x_text }) => x.map((at, i) => [at, x_text[i]])));
  const all = [...named.keys()].sort((a, b) => a - b);
  const shares = probeShares(view.x, all);
  const y = shares.map(() => drawn.frame.height / 2);
  const data = { x: shares, y, x_text: all.map((at) => named.get(at)) };
  columns.forEach(({ x, y_text }, i) => {
    const texts = new Map(x.map((at, k) => [at, y_text[k]]));
    data[`t${i}`] = all.map((at) => texts.get(at) ?? NOTHING);
  });
  return data;
}

function probeShares(axis, values) {
  const scale = axis.scale === "log" ? Math.log : (value) => value;
  const low = scale(axis.low), extent = scale(axis.high) - low || 1;
  return values.map((value) => (scale(value) - low) / extent);
}

/** The tooltip over curves: Bokeh fills in the columns named after an at sign. */
export function tooltip(view) {
  const rows = [[view.x.label, "@x_text"], ...view.series.map((s, i) => [s.label, `@t${i}`])];
  const grid = "display:grid;grid-template-columns:auto auto;gap:0 1em";
  const cells = rows.map(([label, column]) =>
    `<span>${plain(label)}</span><b style="text-align:right">${column}</b>`);
  return `<div style="${grid}">${cells.join("")}</div>`;
}

/** A text that is neither markup nor a column's name. */
function plain(text) {
  return text.replace(/[&<>"@$]/g, (one) => `&#${one.charCodeAt(0)};`);
}
