/**
 * Live charts: a Bokeh figure over each static SVG, showing the same picture; it answers the
 * pointer and follows the reader's inputs. Without BokehJS the SVG stays and follows them.
 */

import { columns, forgetColors, tooltip } from "./columns.js";
import { WIDE, topOf } from "./frame.js";
import { picture } from "./picture.js";
import { svgText } from "./svg.js";

/** @typedef {{item: any, view: any}} Item what builder/figures/bokeh_documents.py makes */
/** @typedef {{view: any, plot: any, sources: Map<string, any>, family: string,
 *   texts: Map<any, string>, width: number}} Live `width` is that of the chart: asking for it while a
 *   reply is drawn would lay out the page once more */

/** @type {WeakMap<HTMLElement, Live>} */
const live = new WeakMap();
/** The newest view of a figure that is not live yet. @type {WeakMap<HTMLElement, any>} */
const waiting = new WeakMap();
/** @type {Set<HTMLElement>} */
const figures = new Set();
const dark = matchMedia("(prefers-color-scheme: dark)");

/** @type {Promise<any> | undefined} */
let library;

/** Bokeh moves all it draws by half a pixel, right and down; the ranges move it back. */
const HALF = 0.5;

/**
 * Puts a live figure over the static one, and shows it when it is painted.
 * @param {HTMLElement} figure
 * @param {Item} item
 */
export async function upgrade(figure, item) {
  const holder = figure.querySelector("[data-plot]");
  if (!holder || live.has(figure)) return;
  const bokeh = await load();
  const target = document.createElement("div");
  target.className = "live";
  holder.append(target);
  const { frame } = picture(waiting.get(figure) ?? item.view);
  Object.assign(item.item.doc.roots[0].attributes, sizes(frame, widthOf(figure)));
  try {
    const [view] = await bokeh.embed.embed_item(item.item, target);
    adopt(figure, view.model, item.view, target);
    view.canvas_view.events_el.tabIndex = -1; // the keys are for the page's own controls
    spare(view);
    for (const { ctx } of [view.canvas_view.primary, view.canvas_view.overlays]) clearWhole(ctx);
    await painted(view);
    figure.setAttribute("data-chart", "live");
  } catch (error) {
    live.delete(figure);
    target.remove();
    throw error;
  }
}

/**
 * Bokeh clears what it has moved by half a pixel, so the first column and row keep half of their ink:
 * a stroke of a text that stood there before the chart got its width.
 * @param {CanvasRenderingContext2D} pen
 */
function clearWhole(pen) {
  const clear = pen.clearRect.bind(pen);
  pen.clearRect = (x, y, width, height) => clear(x - 1, y - 1, width + 2, height + 2);
}

/** What prepares marks to be painted, for marks that never are. */
const UNPREPARED = Object.fromEntries(
  ["set_data", "set_visuals", "after_visuals", "after_lazy_visuals", "map_data"].map((name) => [name, () => {}]),
);

/**
 * Bokeh looks for new models among the data after every change, keeps an empty element of every
 * renderer where its marks are, for which the page is laid out once more, and prepares all marks five
 * times: selected, not selected, muted and too many, too. Nothing here needs any of it.
 */
function spare(view) {
  view.model.document._recompute_timeout = Infinity;
  for (const one of view.renderer_views.values()) {
    one.position.replace(":host { display: none }");
    one.update_position = () => {};
    for (const state of ["selection", "nonselection", "muted", "decimated"]) {
      Object.assign(one[`${state}_glyph`] ?? {}, UNPREPARED); // a tooltip has none
    }
  }
}

function adopt(figure, plot, view, target) {
  const sources = new Map(), family = getComputedStyle(target).fontFamily;
  for (const { data_source, glyph } of plot.renderers) {
    sources.set(data_source.name, data_source);
    if (glyph.text_font !== undefined) glyph.text_font = { value: family };
  }
  live.set(figure, { view, plot, sources, family, texts: new Map(), width: widthOf(figure) });
  const center = () => {
    const shift = HALF / (plot.inner_width || 1);
    plot.x_range.setv({ start: shift, end: 1 + shift });
    const shown = live.get(figure);
    if (!shown) return;
    const before = shown.width;
    shown.width = widthOf(figure);
    if (shown.width >= WIDE !== before >= WIDE) update(figure, shown.view);
  };
  plot.properties.inner_width.change.connect(center);
  center();
  figures.add(figure);
  update(figure, waiting.get(figure) ?? view);
}

/** Pixels from edge to edge of the chart, margins included. @param {HTMLElement} figure */
function widthOf(figure) {
  return figure.querySelector("[data-plot]")?.clientWidth ?? 0;
}

/** BokehJS, loaded once per page. */
function load() {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = document.body.dataset.bokeh ?? "";
    script.onload = () => resolve(/** @type {any} */ (window).Bokeh);
    script.onerror = () => {
      library = undefined; // the next figure tries again
      reject(new Error(script.src));
    };
    document.head.append(script);
  });
  return library;
}

/** Until the figure has been painted with its data. */
async function painted(view) {
  await view.ready;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}

/**
 * Shows another view in a figure; one that is not live yet keeps it, and is drawn anew as it is.
 * @param {HTMLElement} figure
 * @param {any} view
 * @param {import("./frame.js").Picture} [drawn] its marks
 */
export function update(figure, view, drawn = undefined) {
  const shown = live.get(figure);
  if (!shown) {
    waiting.set(figure, view);
    drawStill(figure, view, drawn);
    return;
  }
  drawn ??= picture(view);
  shown.view = view;
  const data = columns(drawn, view, shown.family, shown.width);
  const release = held(shown.plot);
  fit(figure, shown, drawn.frame);
  for (const [name, source] of shown.sources) fill(source, data[name], shown.texts);
  figure.querySelector(".chart-svg")?.setAttribute("aria-label", inWords(view));
  name(shown, view);
  release();
}

/** Draws the static picture anew. */
function drawStill(figure, view, drawn) {
  const old = figure.querySelector(".chart-svg");
  if (!old) return;
  const template = document.createElement("template");
  template.innerHTML = svgText(view, inWords(view), drawn);
  if (old.outerHTML !== template.innerHTML) old.replaceWith(template.content);
}

/** Gives a source its columns, unless it has the same already. */
function fill(source, data, texts) {
  const text = JSON.stringify(data);
  if (texts.get(source) === text) return;
  texts.set(source, text);
  source.data = "style" in data ? withGone(data, source.data) : data;
}

/**
 * Words, with empty ones after them in place of those that are gone: before Bokeh takes fewer, it
 * asks for the font of every word that it has drawn.
 */
function withGone(words, before) {
  const count = words.text.length;
  const gone = Array.from(before.text ?? []).slice(count).map(() => "");
  return Object.fromEntries(Object.entries(words).map(([key, values]) => (
    [key, [...values, ...(key === "text" ? gone : Array.from(before[key] ?? []).slice(count))]])));
}

/** Keeps the plot from painting until all its sources are set. */
function held(plot) {
  plot.hold_render = true;
  return () => {
    plot.hold_render = false;
  };
}

/** Gives the figure and the static picture under it the height that the rows need. */
function fit(figure, { plot, width: chart }, frame) {
  const { left, right, top, height, wideTop = top } = frame;
  const moved = plot.y_range.start !== height + HALF || plot.min_border_top !== topOf(frame, chart);
  if (moved || plot.min_border_left !== left) {
    plot.setv(sizes(frame, chart));
    plot.y_range.setv({ start: height + HALF, end: HALF });
  }
  const still = /** @type {SVGElement | null} */ (figure.querySelector(".chart-svg"));
  if (!still) return;
  const width = `calc(100% - ${left + right}px)`, margins = { marginTop: `${top}px`, marginLeft: `${left}px` };
  Object.assign(still.style, { ...margins, width, height: `${height}px` });
  if (wideTop === top) still.style.removeProperty("--wide-top");
  else still.style.setProperty("--wide-top", `${wideTop}px`);
}

/** A frame as the plot's attributes. @param {import("./frame.js").Frame} frame @param {number} chart its width */
function sizes(frame, chart) {
  const { left, right, bottom, height } = frame, top = topOf(frame, chart);
  return {
    min_border_left: left, min_border_right: right, min_border_top: top,
    min_border_bottom: bottom, height: top + height + bottom,
  };
}

/** The picture in words: its title and everything marked in it. */
function inWords(view) {
  const marked = [...(view.points ?? []), ...(view.rules ?? [])].map((one) => one.label);
  const rows = (view.bars ?? []).map((bar) => `${bar.label}: ${bar.text}`);
  return [view.title, ...rows, ...marked].join(". ");
}

/** The rows of the tooltip, when they are others than before, and where they stand. */
function name(shown, view) {
  if (view.kind !== "lines") return;
  const rows = tooltip(view);
  // Beside the pointer there may be no room on a phone: above and below it Bokeh stays in the window.
  const attachment = shown.width < WIDE ? "vertical" : "horizontal";
  for (const tool of shown.plot.toolbar.tools) {
    if (tool.name !== "hover") continue;
    if (tool.attachment !== attachment) tool.setv({ attachment, tooltips: "" }); // it is made of both
    if (tool.tooltips !== rows) tool.tooltips = rows;
  }
}

// A live figure has the window's width and may be wider than the paper; a static one fits.
addEventListener("beforeprint", () => {
  for (const figure of figures) {
    const shown = live.get(figure);
    if (shown) drawStill(figure, shown.view, undefined);
  }
});

dark.addEventListener("change", recolor);
addEventListener("look", recolor);
addEventListener("storage", ({ key }) => key === "wallclock.scheme" && recolor());

/** Other colors for all that is drawn: the scheme is another. */
function recolor() {
  forgetColors();
  for (const figure of figures) {
    const shown = live.get(figure);
    if (shown) update(figure, shown.view);
  }
}
