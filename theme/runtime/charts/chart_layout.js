/** Layout of any chart as marks, for the static picture, the live one and a saved file. */

import { layoutLines } from "./lines.js";
import { layoutBars, layoutHeatmap } from "./rows.js";
import { layoutTimeline } from "./timeline.js";

const LAYOUTS = { lines: layoutLines, bars: layoutBars, timeline: layoutTimeline, heatmap: layoutHeatmap };

/** @returns {import("./frame.js").Picture} */
export function layoutChart(view) {
  return LAYOUTS[view.kind](view);
}
