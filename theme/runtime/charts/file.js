/**
 * A picture that leaves the page: an SVG document with a size and a ground of its own, in the light
 * colors. Its rules are the page's, with their values in place of names, for programs that draw SVG
 * know no custom properties.
 */

import { picture } from "./picture.js";
import { marks, safe } from "./svg.js";

const WIDTH = 720, HEAD = 34; // pixels of a chart, and of its title
const MARGIN_X = 16, MARGIN_Y = 12;
const DRAWN = /^\.(c-|chart-svg|scene\b)/; // the rules of drawings

/** @param {any} view @param {string} label the picture in words */
export function chartFile(view, label) {
  const drawn = picture(view), { left, right, top, bottom, height } = drawn.frame;
  const inner = `<g class="chart-svg"><text x="0" y="20" class="c-ink" font-weight="700" font-size="15">`
    + `${safe(view.title)}</text><svg x="${left}" y="${top + HEAD}" height="${height}" `
    + `width="${WIDTH - left - right}" overflow="visible">${marks(drawn)}</svg></g>`;
  return file(WIDTH, top + height + bottom + HEAD, label, inner);
}

/** A drawing as it stands on the page now. @param {SVGSVGElement} drawing */
export function sceneFile(drawing) {
  const { width, height } = drawing.viewBox.baseVal, copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  copy.removeAttribute("style");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const label = drawing.getAttribute("aria-label") ?? "";
  return file(width, height, label, new XMLSerializer().serializeToString(copy));
}

function file(width, height, label, inner) {
  const outer = [width + 2 * MARGIN_X, height + 2 * MARGIN_Y];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${outer[0]}" height="${outer[1]}" `
    + `viewBox="${-MARGIN_X} ${-MARGIN_Y} ${outer.join(" ")}"><title>${safe(label)}</title>`
    + `<style>${safe(rules())}</style>`
    + `<rect x="${-MARGIN_X}" y="${-MARGIN_Y}" width="100%" height="100%" class="c-paper" fill="currentColor"/>`
    + `${inner}</svg>`;
}

/** The page's rules for drawings outside of any media query, their values in place of names. */
function rules() {
  const all = /** @type {CSSStyleRule[]} */ ([...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSStyleRule));
  const values = new Map();
  for (const { style } of all.filter((rule) => rule.selectorText === ":root")) {
    for (const name of style) values.set(name, style.getPropertyValue(name).trim());
  }
  return all
    .filter((rule) => DRAWN.test(rule.selectorText))
    .map((rule) => rule.cssText.replace(/var\((--[\w-]+)\)/g, (whole, name) => values.get(name) ?? whole))
    .join("");
}
