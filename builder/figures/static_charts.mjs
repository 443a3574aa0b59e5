// Renders charts to SVG with the theme's own layout: JSON on stdin, JSON on stdout.
//
// In:  {"module": path of the runtime's charts/svg.js, "charts": {name: {"view", "spoken"}}}
// Out: {name: SVG text}
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { module, charts } = JSON.parse(await text(process.stdin));
const { chartSvg } = await import(pathToFileURL(module));
const svgs = Object.entries(charts).map(([name, { view, spoken }]) => [name, chartSvg(view, spoken)]);
process.stdout.write(JSON.stringify(Object.fromEntries(svgs)));
