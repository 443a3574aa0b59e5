/** A picture that leaves the page: an SVG document with a size, a ground and the light colors. */

import { picture } from "./picture.js";
import { marks, safe } from "./svg.js";

const WIDTH = 720, HEAD = 34; // pixels of a chart, and of its title

// What the page's own style sheets give it there, in the light scheme.
const PALETTE = {
  paper: "#fdfcf9", ink: "#22242a", muted: "#5d6068", hairline: "#dcd7cb",
  idle: "#c9c5bb", accent: "#4a3fc4",
  compute: "#1096ea", communication: "#d47a00", memory: "#005148",
  parameters: "#004c7a", gradients: "#be6800", optimizer: "#9878c2",
  activations: "#599b85", buffers: "#8b002f",
  tensor: "#7c111d", pipeline: "#4d8ae9", data: "#819668", context: "#006e6d",
  expert: "#9b5c00",
};
const CHART_RULES = "svg{fill:currentColor;font:13px system-ui,sans-serif}"
  + ".strong,.inside{font-weight:600}.tick{font-size:12px}.cell{font-size:11px}"
  + ".halo{paint-order:stroke;stroke:#fdfcf9;stroke-width:4px;stroke-linejoin:round}"
  + ".line,.stripes{fill:none;stroke:currentColor;vector-effect:non-scaling-stroke}"
  + ".curve,.dashed{stroke-width:2.25px;stroke-linejoin:round}.dashed{stroke-dasharray:6 4}"
  + ".swatch{stroke-width:12px}.idle{stroke-width:24px;stroke-dasharray:2 4}"
  + ".rule{stroke-width:1.25px;stroke-dasharray:3 3}.drop{stroke-dasharray:1 3}"
  + ".ring{fill:#fdfcf9;stroke:currentColor;stroke-width:2.5px}"
  + ".stripes{stroke:#fdfcf9;stroke-dasharray:2 4}";
const SCENE_RULES = "text{fill:currentColor;font-family:system-ui,sans-serif}"
  + ".rank,.message{fill:#fdfcf9}.cell,.sent{fill:currentColor}.port{fill:none}"
  + ".cell,.port{stroke:#dcd7cb}.cell.done{stroke:#22242a;stroke-width:2.5}"
  + ".link{stroke:currentColor;stroke-width:2}.message{stroke:currentColor;stroke-width:2.5}"
  + ".message-value{fill:#22242a}";

/** @param {any} view @param {string} label the picture in words */
export function chartFile(view, label) {
  const drawn = picture(view), { left, right, top, bottom, height } = drawn.frame;
  const inner = `<text x="0" y="20" class="c-ink strong" font-size="15">${safe(view.title)}</text>`
    + `<svg x="${left}" y="${top + HEAD}" height="${height}" width="${WIDTH - left - right}" `
    + `overflow="visible">${marks(drawn)}</svg>`;
  return file(WIDTH, top + height + bottom + HEAD, label, inner, CHART_RULES);
}

/** A drawing as it stands on the page now. @param {SVGSVGElement} drawing */
export function sceneFile(drawing) {
  const { width, height } = drawing.viewBox.baseVal, copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  copy.removeAttribute("style");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const label = drawing.getAttribute("aria-label") ?? "";
  return file(width, height, label, new XMLSerializer().serializeToString(copy), SCENE_RULES);
}

function file(width, height, label, inner, rules) {
  const colors = Object.entries(PALETTE).map(([name, color]) => `.c-${name}{color:${color}}`).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width + 32}" height="${height + 24}" `
    + `viewBox="-16 -12 ${width + 32} ${height + 24}"><title>${safe(label)}</title>`
    + `<style>${colors}${rules}</style>`
    + `<rect x="-16" y="-12" width="100%" height="100%" class="c-paper" fill="currentColor"/>${inner}</svg>`;
}
