// Frame and marks of charts, in one coordinate system for every kind. A
// mark lies at x, a share of the frame's width, and y, pixels down from its top: the width follows
// the page, the height is fixed. Static picture, live figure and file draw these same marks.

/** @typedef {{left: number, right: number, top: number, bottom: number, height: number,
 *   wideTop?: number}} Frame wideTop: the upper margin on wide charts, where it is another there */
/** @typedef {{points: number[][], color: string, look: string, width: number, wide?: boolean,
 *   narrow?: boolean}} LineMark */
/** @typedef {{x0: number, x1: number, y0: number, y1: number, color: string, strength: number,
 *   hatched: boolean, label: string, text: string}} BoxMark */
/** @typedef {{x: number, y: number, text: string, align: string, dx: number, color: string,
 *   look: string, wide: boolean, narrow?: boolean}} TextMark wide or narrow: where the chart is that only */
/** @typedef {{x: number, y: number, color: string, small?: boolean, filled?: boolean, wide?: boolean,
 *   narrow?: boolean}} RingMark around a point, or small for one of many measurements */
/** @typedef {{frame: Frame, back: LineMark[], boxes: BoxMark[], curves: LineMark[], front: LineMark[],
 *   rings: RingMark[], words: TextMark[]}} Picture */

/** Mean width of a character at 13 and 12 pixels, for what is decided without a page. */
export const CHAR_WIDTH = 7.2;
/** A frame's width on a phone: what fits there fits everywhere. */
export const PHONE_FRAME = 256;
/** A chart's width from which on there is room for more texts. */
export const WIDE = 690;
export const TICK_CHAR_WIDTH = 6.3;
const BROAD_CHAR_WIDTH = 7; // in a broad face: ticks stay apart in the letters of every reader
export const PHONE = 345; // a chart's width on a phone: texts that do not meet there meet nowhere
export const SMALL = 315, TABLET = 775, DESKTOP = 1080;
const TICK_GAP = 11; // pixels between the texts of two ticks
/** The share of a text left of its x. */
export const ALIGN_SHARES = { start: 0, middle: 0.5, end: 1 };

/** The frame of a chart of `count` rows. */
export function frameOfRows(count, row, left = 2, top = 6) {
  return { left, right: 2, top, bottom: 46, height: Math.max(1, count) * row };
}

/** @returns {TextMark} */
export function textMark(x, y, text, align = "start", dx = 0, color = "ink", look = "label", wide = false) {
  return { x, y, text, align, dx, color, look, wide };
}

/** @returns {LineMark} a curve or a straight line; a width of 0 is the look's own */
export function lineMark(points, color, look, width = 0) {
  return { points, color, look, width };
}

/** The frame's upper margin on a chart of so many pixels. @param {Frame} frame @param {number} width */
export function topMargin({ top, wideTop = top }, width) {
  return width < WIDE ? top : wideTop;
}

/** Pixels. @param {RingMark} ring */
export function ringRadius({ small }) {
  return small ? 3 : 5.5;
}

/** Returns the position of a value on the axis, 0 to 1, or NaN. */
export function axisFraction(axis, value) {
  if (value === null) return NaN;
  let [low, high, position] = [axis.low, axis.high, value];
  if (axis.scale === "log") {
    if (!(value > 0 && axis.low > 0)) return NaN;
    [low, high, position] = [Math.log(low), Math.log(high), Math.log(position)];
  }
  if (high <= low) return position === low ? 0.5 : NaN;
  return (position - low) / (high - low);
}

/** Whether a share lies in the frame, the last bits of a logarithm aside. */
export function isInside(x) {
  return x >= -1e-9 && x <= 1 + 1e-9;
}

export function clamp(x) {
  return Math.min(Math.max(x, 0), 1);
}

export function axisTitle(axis) {
  return axis.scale === "log" ? `${axis.label} (${axis.scale})` : axis.label;
}

/** The tick marks and texts under the frame. */
export function xAxisMarks(axis, frame) {
  const positions = axis.ticks
    .map(([value, text]) => [axisFraction(axis, value), text])
    .filter(([at]) => isInside(at))
    .map(([at, text]) => [clamp(at), text]);
  const marks = positions.map(([x]) => lineMark([[x, frame.height], [x, frame.height + 5]], "muted", "tick"));
  const texts = thinTexts(positions, frame, 22, tickAlign);
  texts.push(textMark(1, frame.height + 41, axisTitle(axis), "end", 0, "muted", "tick"));
  return { marks, texts };
}

function tickAlign(x) {
  return x < 0.04 ? "start" : x > 0.94 ? "end" : "middle";
}

/** Texts under the frame, every few of them on a phone, so that they stay apart. */
export function thinTexts(positions, frame, below, alignOf) {
  const [narrowStride, wideStride] = [SMALL, WIDE].map((chart) =>
    tickStride(positions, chart - frame.left - frame.right, alignOf));
  return positions.flatMap(([x, text], i) => {
    if (i % narrowStride && i % wideStride) return [];
    return [textMark(x, frame.height + below, text, alignOf(x), 0, "muted", "tick", i % narrowStride > 0)];
  });
}

/** Every how many ticks have a text, so that the texts stay apart on a frame of `room` pixels. */
function tickStride(positions, frameWidth, alignOf) {
  const ends = positions.map(([x, text]) => {
    const width = BROAD_CHAR_WIDTH * text.length, left = x * frameWidth - ALIGN_SHARES[alignOf(x)] * width;
    return [left, left + width + TICK_GAP];
  });
  const isApart = (every) => {
    const shown = ends.filter((_, i) => i % every === 0);
    return shown.every(([left], i) => !i || left >= shown[i - 1][1]);
  };
  let every = 1;
  while (!isApart(every)) every += 1;
  return every;
}

/** The light vertical lines at the ticks. */
export function xGridLines(axis, frame) {
  return axis.ticks
    .map(([value]) => axisFraction(axis, value))
    .filter(isInside)
    .map((x) => lineMark([[x, 0], [x, frame.height]], "hairline", "grid"));
}

/** Rules as dashed lines with their labels above the frame, one row each. */
export function layoutRules(rules, axis, frame) {
  const lines = [], labels = [];
  rules.forEach((rule, row) => {
    const x = axisFraction(axis, rule.at), y = -6 - 17 * row;
    lines.push(lineMark([[x, y - 11], [x, frame.height]], rule.color, "rule"));
    const [align, dx] = x < 0.6 ? ["start", 6] : ["end", -6];
    labels.push(textMark(x, y, rule.label, align, dx, rule.color));
  });
  return { lines, labels };
}

/** The line at the foot of the frame. */
export function baseLine(frame) {
  const y = frame.height - 0.5;
  return lineMark([[0, y], [1, y]], "muted", "axis");
}

/** Returns all pieces except those at an index. */
export function withoutIndex(pieces, i) {
  return pieces.flatMap((piece, k) => (k === i ? [] : piece));
}

export function longestPiece(pieces) {
  return pieces.reduce((best, piece) => (piece.length > best.length ? piece : best));
}

// Kinds of letters and their widths in ems, in the widest of the fonts that readers have.
const LETTER_WIDTHS = [[/[iljI.,:;'|! ]/, 0.32], [/[ftr()[\]/-]/, 0.42], [/[mwMW%@]/, 0.95], [/[A-Z]/, 0.7]];
const DEFAULT_LETTER_WIDTH = 0.64, BOLD_FACTOR = 1.1;

/** Pixels that a text of 13 pixels is wide at most. @param {string} text @param {boolean} bold */
export function measureTextWidth(text, bold) {
  const ems = [...text].reduce((total, letter) =>
    total + (LETTER_WIDTHS.find(([kind]) => kind.test(letter))?.[1] ?? DEFAULT_LETTER_WIDTH), 0);
  return 13 * ems * (bold ? BOLD_FACTOR : 1);
}
