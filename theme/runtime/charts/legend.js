// Legend above a chart, in columns that fit a phone, and in as many as fit a wide page.

import { CHAR_WIDTH, WIDE, lineMark, textMark } from "./frame.js";

const ROW_HEIGHT = 22;
const GAP = 20;
/** Looks of points that no line joins, and whether they are filled. */
export const DOT_LOOKS = { dot: true, hollow: false };
const BORDER = 2; // pixels of a hollow box
const BOX_SWATCH = 8, LINE_SWATCH = 18; // pixels of a box on a phone; of a line: two dashes and more

/** @typedef {[string, string, string]} LegendEntry words, color and look of the swatch */
/** @typedef {{top: number, wideTop: number, swatches: import("./frame.js").LineMark[],
 *   names: import("./frame.js").TextMark[]}} Legend the frame's upper margin, keys included, and their marks */

/**
 * @param {LegendEntry[]} entries
 * @param {number} base pixels above the frame without them
 * @param {number} frameWidth pixels of the frame on a phone
 * @param {{left: number, right: number}} sides
 * @returns {Legend}
 */
export function layoutLegend(entries, base, frameWidth, { left, right }) {
  const wideFrame = WIDE - left - right,
    [narrowPlaces, widePlaces] = [frameWidth, wideFrame].map((width) => entryPlaces(entries, width));
  const [top, wideTop] = [narrowPlaces, widePlaces].map((places) => base + ROW_HEIGHT * rowCount(places));
  const narrow = legendMarks(entries, narrowPlaces, top, frameWidth, { narrow: true }),
    wide = legendMarks(entries, widePlaces, wideTop, wideFrame, { wide: true });
  return {
    top, wideTop,
    swatches: [...narrow.swatches, ...wide.swatches],
    names: [...narrow.names, ...wide.names],
  };
}

function rowCount(places) {
  return places.length ? places[places.length - 1][1] + 1 : 0;
}

function swatchWidth(look) {
  return look === "swatch" || look in DOT_LOOKS ? BOX_SWATCH : LINE_SWATCH;
}

/** Pixels from the left and row of every key. */
function entryPlaces(entries, frameWidth) {
  const widths = entries.map(([label, , look]) => swatchWidth(look) + GAP + CHAR_WIDTH * label.length);
  const sum = (all) => all.reduce((a, b) => a + b, 0);
  let columns = entries.length + 1, columnWidths = [];
  do {
    columns -= 1;
    columnWidths = widths.slice(0, columns).map((_, i) => Math.max(...widths.filter((_, k) => k % columns === i)));
  } while (columns > 1 && sum(columnWidths) > frameWidth);
  return entries.map((_, i) => [sum(columnWidths.slice(0, i % columns)), Math.floor(i / columns)]);
}

/** @param {{wide?: boolean, narrow?: boolean}} shownOn the charts that show these */
function legendMarks(entries, places, top, frameWidth, shownOn) {
  const swatches = [], names = [];
  entries.forEach(([label, color, look], i) => {
    const [left, row] = places[i], x = left / frameWidth, end = (left + swatchWidth(look)) / frameWidth,
      y = 6 - top + ROW_HEIGHT * row;
    // Boxes for points too: Bokeh draws no marks of points outside of the frame.
    swatches.push({ ...lineMark([[x, y + 6], [end, y + 6]], color, look in DOT_LOOKS ? "swatch" : look), ...shownOn });
    const edge = BORDER / frameWidth;
    if (look === "hollow") swatches.push({ ...lineMark([[x + edge, y + 6], [end - edge, y + 6]], "paper", "swatch",
      8), ...shownOn });
    names.push({ ...textMark(end, y + 10.5, label, "start", 6), ...shownOn });
  });
  return { swatches, names };
}
