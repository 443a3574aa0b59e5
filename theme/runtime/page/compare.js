/**
 * Comparison with a kept state A: a chip at the headline, the change at every number of the lab, A as a
 * ghost in its charts and drawings, and both states in the address.
 */

import { shownView } from "../charts/charts.js";
import { layoutChart } from "../charts/chart_layout.js";
import { topMargin } from "../charts/frame.js";
import { createOverlay, polylinePath, rectanglePath } from "../charts/overlay.js";
import { announce } from "./announce.js";
import { elementsOf, setAttribute, setProperty, uiString } from "./dom.js";

const GHOST = "kept-ghost", KINDS = ["lines", "bars", "timeline", "heatmap", "scene"];
const SIDES = ["x", "y", "width", "height"];
const MOST_BOXES = 24; // of A that stand elsewhere: more of them are another picture
const NARROW = 0.0015; // of the width: a box of a timeline that an outline would only blacken

/** @typedef {import("../calculator/controls.js").Calculator} Calculator */
/** @typedef {{chip: HTMLElement | null, charts: Map<string, any>}} Kept */

/** @type {Map<string, Kept>} */
const keptStates = new Map();
/** The change beside each number. @type {WeakMap<Element, HTMLElement>} */
const changes = new WeakMap();
/** @type {WeakMap<Element, ReturnType<typeof createOverlay>>} */
const layers = new WeakMap();
/** @type {any} */
let page;

/** Keeps the present state of a calculator; without one, those that the address holds. @param {Calculator | undefined} calculator @param {any} livePage */
export async function open(calculator, livePage) {
  page ??= livePage;
  if (!calculator) {
    for (const [name, values] of Object.entries(page.address.kept())) keep(page.find(name), values);
    return;
  }
  await calculator.settled();
  const values = { ...calculator.state.base };
  page.address.setKept(calculator.name, Object.entries(values).filter(([input]) => !isOwnText(calculator.name, input)));
  keep(calculator, values);
  const text = headline(calculator.name)?.textContent ?? "";
  announce(uiString("kept-now", { text }));
}

/** Whether an input is a text of the reader's own, which no address holds. */
function isOwnText(name, input) {
  return elementsOf(name, `textarea[name="${input}"]`).length > 0;
}

/** @param {Calculator} calculator @param {Record<string, string>} values */
function keep(calculator, values) {
  const { name } = calculator;
  drop(name);
  /** @type {Kept} */
  const state = { chip: createChip(calculator), charts: new Map() };
  keptStates.set(name, state);
  calculator.keep(values, () => charts(name).map(({ dataset }) => dataset.output ?? "").filter((output) => !state.charts.has(output)));
}

/** @param {string} name */
function drop(name) {
  keptStates.get(name)?.chip?.remove();
  keptStates.delete(name);
  for (const number of numbers(name)) changes.get(number)?.remove();
  for (const number of numbers(name)) changes.delete(number);
  for (const figure of charts(name)) {
    layers.get(figure)?.draw(GHOST, "");
    figure.querySelector(`.scene > .${GHOST}`)?.remove();
  }
}

/** @param {string} name */
function headline(name) {
  return elementsOf(name, ".lead .number[data-output]")[0];
}

/** Numbers of the lab itself; a sentence has no room for a change. @param {string} name */
function numbers(name) {
  return elementsOf(name, ".number[data-output]").filter((number) => number.closest("dd, .view.large"));
}

/** @param {string} name */
function charts(name) {
  return elementsOf(name, "figure[data-output]").filter(({ dataset }) => KINDS.includes(dataset.kind ?? ""));
}

/** @param {Calculator} calculator */
function createChip(calculator) {
  const template = /** @type {HTMLTemplateElement} */ (document.querySelector("template[data-panel=compare]"));
  const chip = /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
  chip.querySelector("button")?.addEventListener("click", () => {
    page.address.setKept(calculator.name, null);
    drop(calculator.name);
    calculator.keep(null);
  });
  const number = headline(calculator.name);
  number?.after(chip);
  return number ? chip : null;
}

document.addEventListener("answered", (event) => {
  const { name, reply } = /** @type {CustomEvent} */ (event).detail, state = keptStates.get(name);
  if (!state) return;
  for (const [output, then] of Object.entries(reply.kept ?? {})) if (then.kind) state.charts.set(output, then);
  const ownHeadline = headline(name)?.dataset.output ?? "";
  const kept = reply.kept?.[ownHeadline], text = state.chip?.querySelector("[data-kept-text]");
  if (kept && text) setProperty(text, "textContent", `${uiString("kept-text", kept)}${kept.change ? `, ${kept.change}` : ""}`);
  for (const number of numbers(name)) renderChange(number, reply.kept?.[number.dataset.output ?? ""]);
  for (const figure of charts(name)) drawGhost(figure, state.charts.get(figure.dataset.output ?? ""));
});

document.addEventListener("redrawn", () => {
  for (const [name, { charts: ghosts }] of keptStates) {
    for (const figure of charts(name)) drawGhost(figure, ghosts.get(figure.dataset.output ?? ""));
  }
});

/** @param {HTMLElement} number @param {{text: string, change: string} | undefined} then */
function renderChange(number, then) {
  if (!then) return;
  if (!changes.has(number)) {
    const place = Object.assign(document.createElement("span"), { className: "against" });
    (number.nextElementSibling?.matches(".also") ? number.nextElementSibling : number).after(place);
    changes.set(number, place);
  }
  const same = then.text === number.textContent;
  setProperty(changes.get(number), "textContent", same ? uiString("kept-same") : uiString("kept-change", then));
}

/** @param {HTMLElement} figure @param {any} then the chart of A */
async function drawGhost(figure, then) {
  if (then?.kind === "scene") drawSceneGhost(figure, then);
  const plot = /** @type {HTMLElement | null} */ (figure.querySelector("[data-plot]"));
  if (!plot || !then) return;
  const view = await shownView(figure).catch(() => null);
  if (!view || view.kind !== then.kind || !keptStates.has(figure.dataset.of ?? "")) return;
  if (!layers.has(figure)) layers.set(figure, createOverlay(plot, [GHOST]));
  const layer = layers.get(figure), { frame } = layoutChart(view);
  layer?.fit({ ...frame, top: topMargin(frame, plot.clientWidth) });
  layer?.draw(GHOST, JSON.stringify(view) === JSON.stringify(then) ? "" : PATHS[view.kind](view, then));
}

/** @param {HTMLElement} figure @param {any} then the drawing of A */
function drawSceneGhost(figure, then) {
  const drawing = figure.querySelector("[data-stage] > svg");
  if (!drawing) return;
  let ghost = drawing.querySelector(`.${GHOST}`);
  if (!ghost) {
    ghost = document.createElementNS(drawing.namespaceURI, "path");
    setAttribute(ghost, "class", GHOST);
    drawing.append(ghost);
  }
  setAttribute(ghost, "d", sceneGhostPath(drawing, then));
}

/**
 * The boxes of A that stand elsewhere now; none where boxes move as the scene plays.
 * @param {Element} drawing @param {any} then
 */
function sceneGhostPath(drawing, { svg, frames }) {
  const isMoving = ([, attributes]) => SIDES.some((side) => side in attributes);
  const template = document.createElement("template");
  template.innerHTML = svg;
  const [width, before] = [drawing, template.content.firstElementChild].map((box) => box?.getAttribute("viewBox")?.split(" ")[2]);
  if (width !== before || frames.some(({ changes }) => changes.some(isMoving))) return "";
  const present = new Set(boxesOf(drawing)), gone = boxesOf(template.content).filter((box) => !present.has(box));
  if (gone.length > MOST_BOXES) return "";
  return gone.map((box) => box.split(" ")).map(([x, y, wide, high]) => `M${x} ${y}h${wide}v${high}h-${wide}z`).join("");
}

/** @param {ParentNode} drawing */
function boxesOf(drawing) {
  const rectangles = /** @type {Element[]} */ ([...drawing.querySelectorAll("rect")]);
  return rectangles.map((box) => SIDES.map((side) => box.getAttribute(side) ?? 0).join(" "));
}

/** The marks of A on today's axes, by kind of chart. @type {Record<string, (view: any, then: any) => string>} */
const PATHS = {
  lines: (view, then) => layoutChart({ ...view, series: then.series, columns: then.columns, points: [], rules: [] })
    .curves.map(({ points }) => polylinePath(points)).join(""),
  bars(view, then) {
    const rows = view.bars.map((bar) => then.bars.find(({ label }) => label === bar.label) ?? { ...bar, segments: [], range: null });
    return outlines(layoutChart({ ...view, bars: rows }).boxes);
  },
  timeline(view, then) {
    const lanes = new Set(view.lanes.map(({ key }) => key));
    return outlines(layoutChart({ ...view, spans: then.spans.filter(({ lane }) => lanes.has(lane)) }).boxes);
  },
  /** The cells that A marks, on a map of the same rows and columns. */
  heatmap(view, then) {
    if (["x", "y"].some((side) => view[side].join() !== then[side].join())) return "";
    return layoutChart({ ...view, points: then.points }).front.filter(({ color }) => color !== "paper")
      .map(({ points }) => polylinePath(points)).join("");
  },
};

/** Boxes of a row that touch are outlined as one. */
function outlines(boxes) {
  const joined = /** @type {any[]} */ ([]);
  for (const box of [...boxes].sort((a, b) => a.y0 - b.y0 || a.x0 - b.x0)) {
    const last = joined.at(-1);
    if (last?.y0 === box.y0 && box.x0 - last.x1 < NARROW) last.x1 = Math.max(last.x1, box.x1);
    else if (box.x1 > box.x0) joined.push({ ...box });
  }
  return joined.map(({ x0, x1, y0, y1 }) => rectanglePath(Math.max(x0, 0), Math.min(x1, 1), y0 - 2, y1 + 2)).join("");
}
