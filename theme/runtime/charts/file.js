/**
 * A picture that leaves the page: an SVG document with a size and a ground of its own, in the light
 * colors. Its rules are the page's, with their values in place of names, for programs that draw SVG
 * know no custom properties. Its title stands above it, and below it the page it comes from, with a link
 * to the state that is shown.
 *
 * @typedef {{title: string, source: string, link: string}} About
 */

import { topOf } from "./frame.js";
import { picture } from "./picture.js";
import { marks, safe } from "./svg.js";

const WIDTH = 720, HEAD = 34, FOOT = 38; // pixels of a chart, of its title, of where it is from
const SMALL = 11, LETTER = 0.56; // size of the words below it, and a letter's width in that
const MARGIN_X = 16, MARGIN_Y = 12;
const DRAWN = /^\.(c-|chart-svg|scene\b)/; // the rules of drawings

/** @param {any} view @param {string} label the picture in words @param {About} about */
export function chartFile(view, label, about) {
  const drawn = picture(view), { left, right, bottom, height } = drawn.frame, top = topOf(drawn.frame, WIDTH);
  const inner = `<g class="chart-svg"><svg x="${left}" y="${top + HEAD}" height="${height}" `
    + `width="${WIDTH - left - right}" overflow="visible">${marks(drawn)}</svg></g>`;
  return file(WIDTH, top + height + bottom, label, about, inner);
}

/** A drawing as it stands on the page now. @param {SVGSVGElement} drawing @param {About} about */
export function sceneFile(drawing, about) {
  const { width, height } = drawing.viewBox.baseVal, copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  copy.removeAttribute("style");
  copy.setAttribute("y", String(HEAD));
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const label = drawing.getAttribute("aria-label") ?? "";
  return file(width, height, label, about, new XMLSerializer().serializeToString(copy));
}

/** @param {number} width @param {number} height of what is drawn @param {About} about */
function file(width, height, label, { title, source, link }, inner) {
  const outer = [width + 2 * MARGIN_X, height + HEAD + FOOT + 2 * MARGIN_Y], below = height + HEAD + 20;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${outer[0]}" height="${outer[1]}" `
    + `viewBox="${-MARGIN_X} ${-MARGIN_Y} ${outer.join(" ")}"><title>${safe(label)}</title>`
    + `<style>${safe(rules())}</style>`
    + `<rect x="${-MARGIN_X}" y="${-MARGIN_Y}" width="100%" height="100%" class="c-paper" fill="currentColor"/>`
    + `${inner}<g class="chart-svg">${line(title, 20, width, 15, ' class="c-ink" font-weight="700"')}`
    + `${line(source, below, width, SMALL, ' class="c-muted"')}<a href="${safe(link)}">`
    + `${line(link.replace(/\?.*/, ""), below + 15, width, SMALL, ' class="c-accent"')}</a></g></svg>`;
}

/** A line of words, smaller where it would be wider than the picture. */
function line(text, y, width, size, rest) {
  const fitting = Math.min(size, width / (Math.max(1, text.length) * LETTER));
  return `<text x="0" y="${y}" style="font-size:${fitting.toFixed(1)}px"${rest}>${safe(text)}</text>`;
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
