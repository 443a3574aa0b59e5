// Keys above a chart: what its colors mean, in columns that fit a phone.

import { CHAR, line, words } from "./frame.js";

export const KEY_ROW = 22;
const GAP = 28, SWATCH = 8;

export function keyRowCount(labels, room) {
  return labels.length ? places(labels, room)[labels.length - 1][1] + 1 : 0;
}

/** Pixels from the left and row of every key. */
function places(labels, room) {
  const widths = labels.map((label) => GAP + CHAR * label.length);
  const sum = (all) => all.reduce((a, b) => a + b, 0);
  let columns = labels.length + 1, taken = [];
  do {
    columns -= 1;
    taken = widths.slice(0, columns).map((_, i) => Math.max(...widths.filter((_, k) => k % columns === i)));
  } while (columns > 1 && sum(taken) > room);
  return labels.map((_, i) => [sum(taken.slice(0, i % columns)), Math.floor(i / columns)]);
}

/** @param {[string, string, string][]} keys words, color and look of the swatch */
export function keyMarks(keys, top, room) {
  const placed = places(keys.map(([label]) => label), room), swatches = [], names = [];
  keys.forEach(([label, color, look], i) => {
    const [left, row] = placed[i], x = left / room, y = 6 - top + KEY_ROW * row;
    swatches.push(line([[x, y + 6], [x + SWATCH / room, y + 6]], color, look));
    names.push(words(x + SWATCH / room, y + 10.5, label, "start", 6));
  });
  return { swatches, names };
}
