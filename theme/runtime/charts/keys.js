// Keys above a chart: what its colors mean, in columns that fit a phone, and in as many as fit a wide page.

import { CHAR, WIDE, line, words } from "./frame.js";

const KEY_ROW = 22;
const GAP = 20;
/** Looks of points that no line joins, and whether they are filled. */
export const DOTS = { dot: true, hollow: false };
const EDGE = 2; // pixels of a hollow box
const SWATCH = 8, DASHES = 18; // pixels of a box on a phone; of a line: two dashes and more

/** @typedef {[string, string, string]} Key words, color and look of the swatch */
/** @typedef {{top: number, wideTop: number, swatches: import("./frame.js").Line[],
 *   names: import("./frame.js").Words[]}} Keys the frame's upper margin, keys included, and their marks */

/**
 * @param {Key[]} keys
 * @param {number} base pixels above the frame without them
 * @param {number} room pixels of the frame on a phone
 * @param {{left: number, right: number}} sides
 * @returns {Keys}
 */
export function keysAbove(keys, base, room, { left, right }) {
  const wideRoom = WIDE - left - right, [few, more] = [room, wideRoom].map((one) => places(keys, one));
  const [top, wideTop] = [few, more].map((placed) => base + KEY_ROW * rowCount(placed));
  const narrow = marks(keys, few, top, room, { narrow: true }), wide = marks(keys, more, wideTop, wideRoom, { wide: true });
  return {
    top, wideTop,
    swatches: [...narrow.swatches, ...wide.swatches],
    names: [...narrow.names, ...wide.names],
  };
}

function rowCount(placed) {
  return placed.length ? placed[placed.length - 1][1] + 1 : 0;
}

function swatchOf(look) {
  return look === "swatch" || look in DOTS ? SWATCH : DASHES;
}

/** Pixels from the left and row of every key. */
function places(keys, room) {
  const widths = keys.map(([label, , look]) => swatchOf(look) + GAP + CHAR * label.length);
  const sum = (all) => all.reduce((a, b) => a + b, 0);
  let columns = keys.length + 1, taken = [];
  do {
    columns -= 1;
    taken = widths.slice(0, columns).map((_, i) => Math.max(...widths.filter((_, k) => k % columns === i)));
  } while (columns > 1 && sum(taken) > room);
  return keys.map((_, i) => [sum(taken.slice(0, i % columns)), Math.floor(i / columns)]);
}

/** @param {{wide?: boolean, narrow?: boolean}} on the charts that show these */
function marks(keys, placed, top, room, on) {
  const swatches = [], names = [];
  keys.forEach(([label, color, look], i) => {
    const [left, row] = placed[i], x = left / room, end = (left + swatchOf(look)) / room, y = 6 - top + KEY_ROW * row;
    // Boxes for points too: Bokeh draws no marks of points outside of the frame.
    swatches.push({ ...line([[x, y + 6], [end, y + 6]], color, look in DOTS ? "swatch" : look), ...on });
    const edge = EDGE / room;
    if (look === "hollow") swatches.push({ ...line([[x + edge, y + 6], [end - edge, y + 6]], "paper", "swatch", 8), ...on });
    names.push({ ...words(end, y + 10.5, label, "start", 6), ...on });
  });
  return { swatches, names };
}
