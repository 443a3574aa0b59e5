/**
 * SVG files of figures: standalone documents with a size and a background of their own, in the light
 * colors. Its rules are the page's, with their values in place of names, for programs that draw SVG
 * know no custom properties. Its title stands above it, and below it the page it comes from, with a link
 * to the state that is shown.
 *
 * @typedef {{title: string, source: string, link: string}} About
 */

import { topMargin } from "./frame.js";
import { layoutChart } from "./chart_layout.js";
import { svgMarks, escapeMarkup } from "./svg.js";

const WIDTH = 720, TITLE_HEIGHT = 34, FOOTER_HEIGHT = 38; // pixels of a chart, of its title, of where it is from
const SMALL_FONT = 11, LETTER_WIDTH = 0.56; // size of the words below it, and a letter's width in that
const MARGIN_X = 16, MARGIN_Y = 12;
const DRAWING_RULE = /^\.(c-|chart-svg|scene\b)/; // the rules of drawings

/** @param {any} view @param {string} label the picture in words @param {About} about */
export function chartSvgFile(view, label, about) {
  const picture = layoutChart(view), { left, right, bottom, height } = picture.frame, top = topMargin(picture.frame, WIDTH);
  const content = `<g class="chart-svg"><svg x="${left}" y="${top + TITLE_HEIGHT}" height="${height}" `
    + `width="${WIDTH - left - right}" overflow="visible">${svgMarks(picture)}</svg></g>`;
  return svgDocument(WIDTH, top + height + bottom, label, about, content);
}

/** A drawing as it stands on the page now. @param {SVGSVGElement} drawing @param {About} about */
export function sceneSvgFile(drawing, about) {
  const { width, height } = drawing.viewBox.baseVal, copy = /** @type {SVGElement} */ (drawing.cloneNode(true));
  copy.removeAttribute("style");
  copy.setAttribute("y", String(TITLE_HEIGHT));
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  const label = drawing.getAttribute("aria-label") ?? "";
  return svgDocument(width, height, label, about, new XMLSerializer().serializeToString(copy));
}

/** @param {number} width @param {number} height of what is drawn @param {About} about */
function svgDocument(width, height, label, { title, source, link }, content) {
  const size = [width + 2 * MARGIN_X, height + TITLE_HEIGHT + FOOTER_HEIGHT + 2 * MARGIN_Y],
    below = height + TITLE_HEIGHT + 20;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size[0]}" height="${size[1]}" `
    + `viewBox="${-MARGIN_X} ${-MARGIN_Y} ${size.join(" ")}"><title>${escapeMarkup(label)}</title>`
    + `<style>${escapeMarkup(drawingCss())}</style>`
    + `<rect x="${-MARGIN_X}" y="${-MARGIN_Y}" width="100%" height="100%" class="c-paper" fill="currentColor"/>`
    + `${content}<g class="chart-svg">${textLine(title, 20, width, 15, ' class="c-ink" font-weight="700"')}`
    + `${textLine(source, below, width, SMALL_FONT, ' class="c-muted"')}<a href="${escapeMarkup(link)}">`
    + `${textLine(link.replace(/\?.*/, ""), below + 15, width, SMALL_FONT, ' class="c-accent"')}</a></g></svg>`;
}

/** A line of words, smaller where it would be wider than the picture. */
function textLine(text, y, width, size, attributes) {
  const fitting = Math.min(size, width / (Math.max(1, text.length) * LETTER_WIDTH));
  return `<text x="0" y="${y}" style="font-size:${fitting.toFixed(1)}px"${attributes}>${escapeMarkup(text)}</text>`;
}

/** The page's rules for drawings outside of any media query, their values in place of names. */
function drawingCss() {
  const styleRules = /** @type {CSSStyleRule[]} */ ([...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .filter((rule) => rule instanceof CSSStyleRule));
  const values = new Map();
  for (const { style } of styleRules.filter((rule) => rule.selectorText === ":root")) {
    for (const name of style) values.set(name, style.getPropertyValue(name).trim());
  }
  return styleRules
    .filter((rule) => DRAWING_RULE.test(rule.selectorText))
    .map((rule) => rule.cssText.replace(/var\((--[\w-]+)\)/g, (whole, name) => values.get(name) ?? whole))
    .join("");
}
