// The frame of a chart and what is drawn in it: marks in one coordinate system for every kind. A
// mark lies at x, a share of the frame's width, and y, pixels down from its top: the width follows
// the page, the height is fixed. Static picture, live figure and file draw these same marks.

/** @typedef {{left: number, right: number, top: number, bottom: number, height: number,
 *   wideTop?: number}} Frame wideTop: the upper margin on wide charts, where it is another there */
/** @typedef {{points: number[][], color: string, look: string, width: number, wide?: boolean,
 *   narrow?: boolean}} Line */
/** @typedef {{x0: number, x1: number, y0: number, y1: number, color: string, strength: number,
 *   hatched: boolean, label: string, text: string}} Box */
/** @typedef {{x: number, y: number, text: string, align: string, dx: number, color: string,
 *   look: string, wide: boolean, narrow?: boolean}} Words wide or narrow: where the chart is that only */
/** @typedef {{x: number, y: number, color: string, small?: boolean, filled?: boolean, wide?: boolean,
 *   narrow?: boolean}} Ring around a point, or small for one of many measurements */
/** @typedef {{frame: Frame, back: Line[], boxes: Box[], curves: Line[], front: Line[],
 *   rings: Ring[], words: Words[]}} Picture */

/** Mean width of a character at 13 and 12 pixels, for what is decided without a page. */
export const CHAR = 7.2;
/** A frame's width on a phone: what fits there fits everywhere. */
export const TYPICAL = 256;
/** A chart's width from which on there is room for more texts. */
export const WIDE = 690;
export const TICK_CHAR = 6.3;
const BROAD_CHAR = 7; // in a broad face: ticks stay apart in the letters of every reader
export const PHONE = 345; // a chart's width on a phone: texts that do not meet there meet nowhere
export const SMALL = 315, TABLET = 775, DESKTOP = 1080;
const APART = 11; // pixels between the texts of two ticks
/** The share of a text left of its x. */
export const BEFORE = { start: 0, middle: 0.5, end: 1 };

/** The frame of a chart of `count` rows. */
export function rowsFrame(count, row, left = 2, top = 6) {
  return { left, right: 2, top, bottom: 46, height: Math.max(1, count) * row };
}

/** @returns {Words} */
export function words(x, y, text, align = "start", dx = 0, color = "ink", look = "label", wide = false) {
  return { x, y, text, align, dx, color, look, wide };
}

/** @returns {Line} a curve or a straight line; a width of 0 is the look's own */
export function line(points, color, look, width = 0) {
  return { points, color, look, width };
}

/** The frame's upper margin on a chart of so many pixels. @param {Frame} frame @param {number} width */
export function topOf({ top, wideTop = top }, width) {
  return width < WIDE ? top : wideTop;
}

/** Pixels. @param {Ring} ring */
export function radiusOf({ small }) {
  return small ? 3 : 5.5;
}

/** Where the value lies between the axis' ends, 0 to 1; NaN where it has no place. */
export function share(axis, value) {
  if (value === null) return NaN;
  let [low, high, at] = [axis.low, axis.high, value];
  if (axis.scale === "log") {
    if (!(value > 0 && axis.low > 0)) return NaN;
    [low, high, at] = [Math.log(low), Math.log(high), Math.log(at)];
  }
  if (high <= low) return at === low ? 0.5 : NaN;
  return (at - low) / (high - low);
}

/** Whether a share lies in the frame, the last bits of a logarithm aside. */
export function inside(x) {
  return x >= -1e-9 && x <= 1 + 1e-9;
}

export function clamp(x) {
  return Math.min(Math.max(x, 0), 1);
}

export function axisName(axis) {
  return axis.scale === "log" ? `${axis.label} (${axis.scale})` : axis.label;
}

/** The tick marks and texts under the frame. */
export function xAxis(axis, frame) {
  const spots = axis.ticks
    .map(([value, text]) => [share(axis, value), text])
    .filter(([at]) => inside(at))
    .map(([at, text]) => [clamp(at), text]);
  const marks = spots.map(([x]) => line([[x, frame.height], [x, frame.height + 5]], "muted", "tick"));
  const texts = thinned(spots, frame, 22, alignOf);
  texts.push(words(1, frame.height + 41, axisName(axis), "end", 0, "muted", "tick"));
  return { marks, texts };
}

function alignOf(x) {
  return x < 0.04 ? "start" : x > 0.94 ? "end" : "middle";
}

/** Texts under the frame, every few of them on a phone, so that they stay apart. */
export function thinned(spots, frame, below, alignOf) {
  const [few, more] = [SMALL, WIDE].map((chart) =>
    stride(spots, chart - frame.left - frame.right, alignOf));
  return spots.flatMap(([x, text], i) => {
    if (i % few && i % more) return [];
    return [words(x, frame.height + below, text, alignOf(x), 0, "muted", "tick", i % few > 0)];
  });
}

/** Every how many ticks have a text, so that the texts stay apart on a frame of `room` pixels. */
function stride(spots, room, alignOf) {
  const ends = spots.map(([x, text]) => {
    const width = BROAD_CHAR * text.length, left = x * room - BEFORE[alignOf(x)] * width;
    return [left, left + width + APART];
  });
  const apart = (every) => {
    const kept = ends.filter((_, i) => i % every === 0);
    return kept.every(([left], i) => !i || left >= kept[i - 1][1]);
  };
  let every = 1;
  while (!apart(every)) every += 1;
  return every;
}

/** The light vertical lines at the ticks. */
export function xGrid(axis, frame) {
  return axis.ticks
    .map(([value]) => share(axis, value))
    .filter(inside)
    .map((x) => line([[x, 0], [x, frame.height]], "hairline", "grid"));
}

/** Rules as dashed lines with their labels above the frame, one row each. */
export function rulesAbove(rules, axis, frame) {
  const lines = [], labels = [];
  rules.forEach((rule, row) => {
    const x = share(axis, rule.at), y = -6 - 17 * row;
    lines.push(line([[x, y - 11], [x, frame.height]], rule.color, "rule"));
    const [align, dx] = x < 0.6 ? ["start", 6] : ["end", -6];
    labels.push(words(x, y, rule.label, align, dx, rule.color));
  });
  return { lines, labels };
}

/** The line at the foot of the frame. */
export function baseLine(frame) {
  const y = frame.height - 0.5;
  return line([[0, y], [1, y]], "muted", "axis");
}

/** All but one of the pieces, by whose they are. */
export function othersOf(pieces, i) {
  return pieces.flatMap((found, k) => (k === i ? [] : found));
}

export function longest(pieces) {
  return pieces.reduce((best, piece) => (piece.length > best.length ? piece : best));
}

// Kinds of letters and their widths in ems, in the widest of the fonts that readers have.
const LETTERS = [[/[iljI.,:;'|! ]/, 0.32], [/[ftr()[\]/-]/, 0.42], [/[mwMW%@]/, 0.95], [/[A-Z]/, 0.7]];
const LETTER = 0.64, BOLDER = 1.1;

/** Pixels that a text of 13 pixels is wide at most. @param {string} text @param {boolean} bold */
export function widthOf(text, bold) {
  const ems = [...text].reduce((all, one) => all + (LETTERS.find(([kind]) => kind.test(one))?.[1] ?? LETTER), 0);
  return 13 * ems * (bold ? BOLDER : 1);
}
