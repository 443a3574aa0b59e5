/** The marks of any chart: one layout for the static picture, the live one and a file to save. */

import { lines } from "./lines.js";
import { bars, heatmap } from "./rows.js";
import { timeline } from "./timeline.js";

const PICTURES = { lines, bars, timeline, heatmap };

/** @returns {import("./frame.js").Picture} */
export function picture(view) {
  return PICTURES[view.kind](view);
}
