/**
 * Live charts: a Bokeh figure over each static SVG with the same marks, interactive and updated with
 * the inputs. Without BokehJS the SVG is updated.
 */

import { bokehColumns, clearColorCache, movingColumns, tooltipHtml } from "./bokeh_columns.js";
import { WIDE, topMargin } from "./frame.js";
import { layoutChart } from "./chart_layout.js";
import { createMotion } from "./motion.js";
import { chartSvg } from "./svg.js";

/** @typedef {{item: any, view: any}} Item what builder/figures/bokeh_documents.py makes */
/** @typedef {{view: any, plot: any, sources: Map<string, any>, family: string, texts: Map<any, string>,
 *   width: number, motion: ReturnType<typeof createMotion>}} LiveFigure `width` is that of the chart: asking for it while a
 *   reply is drawn would lay out the page once more */

/** @type {WeakMap<HTMLElement, LiveFigure>} */
const liveFigures = new WeakMap();
/** Newest view of each figure that is not live yet. @type {WeakMap<HTMLElement, any>} */
const waitingViews = new WeakMap();
/** @type {Set<HTMLElement>} */
const figures = new Set();
/** What lies over a chart, by figure. @type {WeakMap<HTMLElement, (view: any, frame: import("./frame.js").Frame) => void>} */
const overlays = new WeakMap();
const darkScheme = matchMedia("(prefers-color-scheme: dark)");

/** @type {Promise<any> | undefined} */
let bokehLibrary;

/** Bokeh moves all it draws by half a pixel, right and down; the ranges move it back. */
const HALF_PIXEL = 0.5;

/**
 * Embeds a live figure over the static one and shows it once painted.
 * @param {HTMLElement} figure
 * @param {Item} item
 */
export async function makeLive(figure, item) {
  const plotElement = figure.querySelector("[data-plot]");
  if (!plotElement || liveFigures.has(figure)) return;
  const bokeh = await loadBokeh();
  const container = document.createElement("div");
  container.className = "live";
  plotElement.append(container);
  const { frame } = layoutChart(waitingViews.get(figure) ?? item.view);
  Object.assign(item.item.doc.roots[0].attributes, plotSizes(frame, chartWidth(figure)));
  try {
    const [view] = await bokeh.embed.embed_item(item.item, container);
    adoptPlot(figure, view.model, item.view, container);
    view.canvas_view.events_el.tabIndex = -1; // the keys are for the page's own controls
    disableUnusedWork(view);
    for (const { ctx } of [view.canvas_view.primary, view.canvas_view.overlays]) patchClearRect(ctx);
    await waitForPaint(view);
    figure.setAttribute("data-chart", "live");
  } catch (error) {
    liveFigures.delete(figure);
    container.remove();
    throw error;
  }
}

/**
 * Bokeh clears what it has moved by half a pixel, so the first column and row keep half of their ink:
 * a stroke of a text that stood there before the chart got its width.
 * @param {CanvasRenderingContext2D} context
 */
function patchClearRect(context) {
  const clear = context.clearRect.bind(context);
  context.clearRect = (x, y, width, height) => clear(x - 1, y - 1, width + 2, height + 2);
}

/** No-op methods for glyphs that are never painted. */
const NO_PREPARATION = Object.fromEntries(
  ["set_data", "set_visuals", "after_visuals", "after_lazy_visuals", "map_data"].map((name) => [name, () => {}]),
);

/**
 * Bokeh looks for new models among the data after every change, keeps an empty element of every
 * renderer where its marks are, for which the page is laid out once more, and prepares all marks five
 * times: selected, not selected, muted and too many, too. Nothing here needs any of it.
 */
function disableUnusedWork(view) {
  view.model.document._recompute_timeout = Infinity;
  for (const renderer of view.renderer_views.values()) {
    renderer.position.replace(":host { display: none }");
    renderer.update_position = () => {};
    for (const state of ["selection", "nonselection", "muted", "decimated"]) {
      Object.assign(renderer[`${state}_glyph`] ?? {}, NO_PREPARATION); // a tooltip has none
    }
  }
}

function adoptPlot(figure, plot, view, target) {
  const sources = new Map(), family = getComputedStyle(target).fontFamily;
  for (const { data_source, glyph } of plot.renderers) {
    sources.set(data_source.name, data_source);
    if (glyph.text_font !== undefined) glyph.text_font = { value: family };
  }
  const adopted = { view, plot, sources, family, texts: new Map(), width: chartWidth(figure) };
  liveFigures.set(figure, { ...adopted, motion: createMotion((picture) => renderMoving(figure, picture)) });
  const centerRanges = () => {
    const shift = HALF_PIXEL / (plot.inner_width || 1);
    plot.x_range.setv({ start: shift, end: 1 + shift });
    const liveFigure = liveFigures.get(figure);
    if (!liveFigure) return;
    const previousWidth = liveFigure.width;
    liveFigure.width = chartWidth(figure);
    if (liveFigure.width >= WIDE !== previousWidth >= WIDE) updateFigure(figure, liveFigure.view);
  };
  plot.properties.inner_width.change.connect(centerRanges);
  centerRanges();
  figures.add(figure);
  updateFigure(figure, waitingViews.get(figure) ?? view);
}

/** Pixels from edge to edge of the chart, margins included. @param {HTMLElement} figure */
function chartWidth(figure) {
  return figure.querySelector("[data-plot]")?.clientWidth ?? 0;
}

/** BokehJS, loaded once per page. */
function loadBokeh() {
  bokehLibrary ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = document.body.dataset.bokeh ?? "";
    script.onload = () => resolve(/** @type {any} */ (window).Bokeh);
    script.onerror = () => {
      bokehLibrary = undefined; // the next figure tries again
      reject(new Error(script.src));
    };
    document.head.append(script);
  });
  return bokehLibrary;
}

/** Resolves when the figure has been painted with its data. */
async function waitForPaint(view) {
  await view.ready;
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}

/**
 * Updates a figure to another view; one that is not live yet is redrawn as static SVG.
 * @param {HTMLElement} figure
 * @param {any} view
 * @param {import("./frame.js").Picture} [picture] its marks
 */
export function updateFigure(figure, view, picture = undefined) {
  const liveFigure = liveFigures.get(figure);
  if (!liveFigure) {
    waitingViews.set(figure, view);
    renderStatic(figure, view, picture);
    return;
  }
  overlays.get(figure)?.(view, (picture ??= layoutChart(view)).frame);
  picture = liveFigure.motion.first(picture ?? layoutChart(view), view === liveFigure.view);
  liveFigure.view = view;
  const data = bokehColumns(picture, view, liveFigure.family, liveFigure.width);
  const releaseRender = holdRender(liveFigure.plot);
  fitHeight(figure, liveFigure, picture.frame);
  for (const [name, source] of liveFigure.sources) setSource(source, data[name], liveFigure.texts);
  figure.querySelector(".chart-svg")?.setAttribute("aria-label", chartAltText(view));
  updateTooltip(liveFigure, view);
  releaseRender();
}

/**
 * Keeps something over a live chart at its place, whatever part of the axis is drawn.
 * @param {HTMLElement} figure @param {(view: any, frame: import("./frame.js").Frame) => void} show
 */
export function layOver(figure, show) {
  overlays.set(figure, show);
  const liveFigure = liveFigures.get(figure);
  if (liveFigure) show(liveFigure.view, layoutChart(liveFigure.view).frame);
}

/** Draws a step of a motion. @param {HTMLElement} figure @param {import("./frame.js").Picture} picture */
function renderMoving(figure, picture) {
  const { plot, sources, texts, width } = /** @type {LiveFigure} */ (liveFigures.get(figure));
  const releaseRender = holdRender(plot);
  for (const [name, data] of Object.entries(movingColumns(picture, width))) setSource(sources.get(name), data, texts);
  releaseRender();
}

/** Redraws the static SVG. */
function renderStatic(figure, view, picture) {
  const old = figure.querySelector(".chart-svg");
  if (!old) return;
  const template = document.createElement("template");
  template.innerHTML = chartSvg(view, chartAltText(view), picture);
  if (old.outerHTML !== template.innerHTML) old.replaceWith(template.content);
}

/** Sets the columns of a data source if they changed. */
function setSource(source, data, texts) {
  const text = JSON.stringify(data);
  if (texts.get(source) === text) return;
  texts.set(source, text);
  source.data = "style" in data ? padWords(data, source.data) : data;
}

/**
 * Words, with empty ones after them in place of those that are gone: before Bokeh takes fewer, it
 * asks for the font of every word that it has drawn.
 */
function padWords(words, previous) {
  const count = words.text.length;
  const padding = Array.from(previous.text ?? []).slice(count).map(() => "");
  return Object.fromEntries(Object.entries(words).map(([key, values]) => (
    [key, [...values, ...(key === "text" ? padding : Array.from(previous[key] ?? []).slice(count))]])));
}

/** Holds rendering of the plot; returns a function that releases it. */
function holdRender(plot) {
  plot.hold_render = true;
  return () => {
    plot.hold_render = false;
  };
}

/** Gives the figure and the static picture under it the height that the rows need. */
function fitHeight(figure, { plot, width: chartWidth }, frame) {
  const { left, right, top, height, wideTop = top } = frame;
  const hasChanged = plot.y_range.start !== height + HALF_PIXEL || plot.min_border_top !== topMargin(frame, chartWidth);
  if (hasChanged || plot.min_border_left !== left) {
    plot.setv(plotSizes(frame, chartWidth));
    plot.y_range.setv({ start: height + HALF_PIXEL, end: HALF_PIXEL });
  }
  const staticSvg = /** @type {SVGElement | null} */ (figure.querySelector(".chart-svg"));
  if (!staticSvg) return;
  const width = `calc(100% - ${left + right}px)`, margins = { marginTop: `${top}px`, marginLeft: `${left}px` };
  Object.assign(staticSvg.style, { ...margins, width, height: `${height}px` });
  if (wideTop === top) staticSvg.style.removeProperty("--wide-top");
  else staticSvg.style.setProperty("--wide-top", `${wideTop}px`);
}

/** A frame as the plot's attributes. @param {import("./frame.js").Frame} frame @param {number} chartWidth its width */
function plotSizes(frame, chartWidth) {
  const { left, right, bottom, height } = frame, top = topMargin(frame, chartWidth);
  return {
    min_border_left: left, min_border_right: right, min_border_top: top,
    min_border_bottom: bottom, height: top + height + bottom,
  };
}

/** Returns the alt text of a chart: its title and all labels. */
function chartAltText(view) {
  const labels = [...(view.points ?? []), ...(view.rules ?? [])].map((mark) => mark.label);
  const rows = (view.bars ?? []).map((bar) => `${bar.label}: ${bar.text}`);
  return [view.title, ...rows, ...labels].join(". ");
}

/** Updates the rows and the side of the tooltip if they changed. */
function updateTooltip(liveFigure, view) {
  if (view.kind !== "lines") return;
  const rows = tooltipHtml(view);
  // Beside the pointer there may be no room on a phone: above and below it Bokeh stays in the window.
  const attachment = liveFigure.width < WIDE ? "vertical" : "horizontal";
  for (const tool of liveFigure.plot.toolbar.tools) {
    if (tool.name !== "hover") continue;
    if (tool.attachment !== attachment) tool.setv({ attachment, tooltips: "" }); // it is made of both
    if (tool.tooltips !== rows) tool.tooltips = rows;
  }
}

// A live figure has the window's width and may be wider than the paper; a static one fits.
addEventListener("beforeprint", () => {
  for (const figure of figures) {
    const shown = liveFigures.get(figure);
    if (shown) renderStatic(figure, shown.view, undefined);
  }
});

darkScheme.addEventListener("change", recolorFigures);
addEventListener("look", recolorFigures);
addEventListener("storage", ({ key }) => key === "wallclock.scheme" && recolorFigures());

/** Redraws all figures in the colors of the current scheme. */
function recolorFigures() {
  clearColorCache();
  for (const figure of figures) {
    const liveFigure = liveFigures.get(figure);
    if (liveFigure) updateFigure(figure, liveFigure.view);
  }
}
