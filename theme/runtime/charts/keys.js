// Keys above a chart: what its colors mean, in columns that fit a phone.

import { CHAR, line, words } from "./frame.js";

export const KEY_ROW = 22;
const GAP = 20;
const SWATCH = 8, DASHES = 18; // pixels of a box on a phone; of a line: two dashes and more

/** @param {[string, string, string][]} keys words, color and look of the swatch */
export function keyRowCount(keys, room) {
  return keys.length ? places(keys, room)[keys.length - 1][1] + 1 : 0;
}

function swatchOf(look) {
  return look === "swatch" ? SWATCH : DASHES;
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

/** @param {[string, string, string][]} keys words, color and look of the swatch */
export function keyMarks(keys, top, room) {
  const placed = places(keys, room), swatches = [], names = [];
  keys.forEach(([label, color, look], i) => {
    const [left, row] = placed[i], x = left / room, end = (left + swatchOf(look)) / room, y = 6 - top + KEY_ROW * row;
    swatches.push(line([[x, y + 6], [end, y + 6]], color, look));
    names.push(words(end, y + 10.5, label, "start", 6));
  });
  return { swatches, names };
}
