/**
 * Dock of a phone: the touched input with a large slider, its headline before and now, and the first
 * figure while that is out of view. Its controls are further ones of the same input, so that what
 * listens to inputs and draws them needs to know nothing of it.
 */

import { shownView } from "../charts/charts.js";
import { layoutChart } from "../charts/chart_layout.js";
import { chartSvg } from "../charts/svg.js";
import { clearElementCache, hasDock, queryAll, setProperty } from "./dom.js";
import { pinFigure } from "./visible_blocks.js";

const FIGURE_HEIGHT = 160, REPEAT_DELAY = 400, REPEAT_INTERVAL = 110; // pixels, milliseconds
const LINES_FRAME_HEIGHT = 96; // of a chart of curves in the dock, without its axis
const SMALLEST_ZOOM = 0.6;

const dialog = /** @type {HTMLDialogElement} */ (document.querySelector("[data-panel=dock]"));
const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (dialog.querySelector(`[data-dock-${name}]`));
const [panel, label, box, control, error, hint, headlineName, before, now] =
  ["figure", "label", "box", "control", "error", "hint", "name", "before", "now"].map(part);

/** The touched field. @type {HTMLElement | null} */
let field = null;
/** @type {HTMLElement | null} */
let figure = null;
/** The headline when the input was touched, null until it is known. @type {string | null} */
let baseline = null;
/** Whether the touched field was brought into view. */
let isSettled = false;
/** @type {any} */
let stepTimer = 0;

/** @param {HTMLElement} touched a field of a calculator, or a number in a sentence */
export function open(touched) {
  if (touched === field && dialog.open) return;
  field?.classList.remove("docked-field");
  field = touched;
  field.classList.add("docked-field");
  const name = touched.dataset.of ?? "";
  showInput(touched);
  const lead = document.querySelector(`.lead [data-of="${name}"][data-output]`);
  baseline = lead ? headlineText(lead) : null;
  setProperty(headlineName, "textContent", document.querySelector(`[data-calculator="${name}"] .number-label`)?.textContent ?? "");
  setProperty(before, "textContent", "");
  setProperty(now, "textContent", baseline ?? "…");
  if (!dialog.open) dialog.show();
  document.documentElement.classList.add("docked");
  isSettled = false;
  pin(firstFigure(touched));
  if (!figure) keepInSight(touched);
  // The sheet's own slider stands where the input does only after an answer.
  dialog.querySelector(".slider")?.dispatchEvent(new Event("change", { bubbles: true }));
}

function close() {
  if (!dialog.open) return;
  const hadFocus = dialog.contains(document.activeElement);
  dialog.close();
  document.documentElement.classList.remove("docked");
  field?.classList.remove("docked-field");
  pin(null);
  const opener = /** @type {HTMLElement | null} */ (field?.querySelector("[name]") ?? null);
  if (hadFocus && opener) focusQuietly(opener);
  field = null;
}

/** Gives the focus back without a keyboard on the screen. @param {HTMLElement} opener */
function focusQuietly(opener) {
  const mode = opener.inputMode;
  opener.inputMode = "none";
  opener.focus({ preventScroll: true });
  opener.addEventListener("blur", () => (opener.inputMode = mode), { once: true });
  setTimeout(() => (opener.inputMode = mode), REPEAT_DELAY);
}

/** Puts further controls of the field's input into the sheet. @param {HTMLElement} touched */
function showInput(touched) {
  const { of = "", field: name = "" } = touched.dataset;
  const original = /** @type {any} */ (touched.querySelector("[name]"));
  const [, title, range] = /^(.*?)(?: \((.*)\))?$/.exec(original.getAttribute("aria-label") ?? "") ?? [];
  const text = touched.querySelector("label")?.textContent || title || name;
  setProperty(label, "textContent", text);
  setProperty(hint, "textContent", touched.querySelector(".hint")?.textContent ?? range ?? "");
  const copy = /** @type {any} */ (original.cloneNode(true));
  copy.removeAttribute("id");
  copy.removeAttribute("aria-describedby");
  copy.className = "";
  copy.setAttribute("aria-label", text);
  const isNumber = original.matches("input[type=text]");
  if (!isNumber) Object.assign(copy, original.type === "checkbox" ? { checked: original.checked } : { value: original.value });
  const slider = isNumber ? createSlider(of, name, text, touched) : null;
  box.replaceChildren(...(isNumber ? [copy] : []));
  control.replaceChildren(slider ?? copy);
  const steps = queryAll("[data-dock-step]", dialog);
  for (const step of steps) step.hidden = original.type === "checkbox";
  Object.assign(error.dataset, { error: name, of });
  setProperty(error, "hidden", true);
  clearElementCache();
}

/** @param {string} of @param {string} name @param {string} text @param {HTMLElement} touched */
function createSlider(of, name, text, touched) {
  const twin = /** @type {HTMLInputElement | null} */ (
    touched.querySelector(".slider") ?? document.querySelector(`.slider[data-slide="${name}"][data-of="${of}"]`));
  const slider = document.createElement("input");
  const attributes = { type: "range", class: "slider", min: "0", max: "1000", step: "1", autocomplete: "off",
    "aria-label": text, "aria-valuetext": "", "data-of": of, "data-slide": name };
  for (const [key, value] of Object.entries(attributes)) slider.setAttribute(key, value);
  slider.autofocus = true;
  slider.value = twin?.value ?? "500";
  return slider;
}

/** Scrolls a touched field out from under the sheet. @param {HTMLElement} touched */
function keepInSight(touched) {
  isSettled = true;
  const over = touched.getBoundingClientRect().bottom + 12 - dialog.getBoundingClientRect().top;
  const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
  if (over > 0) scrollBy({ top: over, behavior });
}

/** The first figure of the field's calculator: of its lab, or the nearest one on the page. @param {HTMLElement} touched */
function firstFigure(touched) {
  const own = `figure[data-output][data-of="${touched.dataset.of}"]`, lab = touched.closest("[data-calculator]");
  const figures = queryAll(own, lab ?? document), { top } = touched.getBoundingClientRect();
  const distance = (/** @type {HTMLElement} */ one) => Math.abs(one.getBoundingClientRect().top - top);
  return lab ? figures[0] ?? null : figures.sort((a, b) => distance(a) - distance(b))[0] ?? null;
}

const sight = new IntersectionObserver(([entry]) => {
  const { boundingClientRect: whole, intersectionRect: seen } = entry;
  panel.hidden = seen.height >= Math.min(FIGURE_HEIGHT, 0.9 * whole.height);
  if (!panel.hidden) drawFigure();
  if (!isSettled && field) keepInSight(field);
}, { rootMargin: "0px 0px -34% 0px", threshold: [0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9] });

/** @param {HTMLElement | null} shown */
function pin(shown) {
  sight.disconnect();
  figure = shown;
  pinFigure(shown);
  panel.hidden = true;
  panel.replaceChildren();
  const drawing = shown?.querySelector("[data-plot], [data-stage]");
  if (drawing) sight.observe(drawing);
}

/** Draws the pinned figure small: its marks, its axis and where the reader is. */
async function drawFigure() {
  const shown = figure, scene = shown?.querySelector("[data-stage] > svg");
  if (scene) panel.replaceChildren(scene.cloneNode(true));
  if (!shown || scene) return;
  const view = await shownView(shown).catch(() => null);
  if (!view || figure !== shown) return;
  const picture = view.kind === "lines" ? flattened(layoutChart(view)) : layoutChart(view);
  const { top, height, bottom } = picture.frame;
  const plot = document.createElement("div");
  plot.className = "plot";
  plot.innerHTML = chartSvg(view, "", picture);
  plot.style.setProperty("zoom", String(Math.min(1, Math.max(SMALLEST_ZOOM, (FIGURE_HEIGHT - 16) / (top + height + bottom)))));
  panel.replaceChildren(plot);
}

/** A chart of curves as low as the dock, with the texts of its axes and of the reader's point only. */
function flattened(picture) {
  const { frame } = picture, share = LINES_FRAME_HEIGHT / frame.height;
  const down = (/** @type {number} */ y) => (y > frame.height ? y - frame.height + LINES_FRAME_HEIGHT : y * share);
  const line = (mark) => ({ ...mark, points: mark.points.map(([x, y]) => [x, down(y)]) });
  const words = picture.words.filter(({ look, y }) => look === "strong" || look === "tick" && y >= 0);
  return {
    ...picture,
    frame: { ...frame, height: LINES_FRAME_HEIGHT, top: 14, wideTop: 14 },
    back: picture.back.map(line),
    boxes: picture.boxes.map((box) => ({ ...box, y0: down(box.y0), y1: down(box.y1) })),
    curves: picture.curves.map(line),
    front: picture.front.filter(({ look }) => look !== "swatch").map(line),
    rings: picture.rings.map((ring) => ({ ...ring, y: down(ring.y) })),
    words: thinned(words.map((word) => ({ ...word, y: down(word.y) }))),
  };
}

/** Words without those that would touch the one above. */
function thinned(words) {
  const kept = /** @type {any[]} */ ([]);
  for (const word of [...words].sort((a, b) => a.y - b.y)) {
    const meets = kept.some((other) => Math.abs(other.y - word.y) < 14 && other.align === word.align && other.x === word.x);
    if (!meets) kept.push(word);
  }
  return kept;
}

/** @param {Element} element */
function headlineText(element) {
  return element.querySelector("strong")?.textContent ?? element.textContent ?? "";
}

/** "408 ms" before "1,950 ms" is "408": a unit that both share is said once. */
function withoutSharedUnit(text, next) {
  const unit = /\D*$/.exec(text)?.[0] ?? "";
  return unit && next.endsWith(unit) ? text.slice(0, text.length - unit.length) : text;
}

document.addEventListener("answered", (event) => {
  const { name, reply } = /** @type {CustomEvent} */ (event).detail;
  if (!dialog.open || name !== field?.dataset.of) return;
  const view = reply.outputs?.[reply.headline];
  now.classList.toggle("stale", !view);
  if (view?.text) {
    baseline ??= view.text;
    if (view.label) setProperty(headlineName, "textContent", view.label);
    const isChanged = baseline !== view.text;
    setProperty(before, "textContent", isChanged ? `${withoutSharedUnit(baseline, view.text)} →` : "");
    setProperty(now, "textContent", view.text);
  }
  if (!panel.hidden) drawFigure();
});

document.addEventListener("redrawn", () => panel.hidden || drawFigure());

/** Goes a step down or up: a number by its small step, a choice to the option beside. @param {number} by */
function step(by) {
  const slider = dialog.querySelector(".slider"), select = /** @type {HTMLSelectElement | null} */ (dialog.querySelector("select"));
  const key = by < 0 ? "ArrowLeft" : "ArrowRight";
  slider?.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  if (!select?.options[select.selectedIndex + by]) return;
  select.selectedIndex += by;
  select.dispatchEvent(new Event("input", { bubbles: true }));
}

for (const button of queryAll("[data-dock-step]", dialog)) {
  const by = Number(button.dataset.dockStep);
  button.addEventListener("click", () => step(by));
  button.addEventListener("pointerdown", () => {
    stepTimer = setTimeout(() => (stepTimer = setInterval(() => step(by), REPEAT_INTERVAL)), REPEAT_DELAY);
  });
  for (const type of ["pointerup", "pointerleave", "pointercancel"]) button.addEventListener(type, () => clearTimeout(stepTimer));
  button.addEventListener("contextmenu", (event) => event.preventDefault());
}
part("close").addEventListener("click", close);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !dialog.open || document.querySelector("dialog:modal, :popover-open")) return;
  close();
});
addEventListener("resize", () => hasDock() || close());
// A keyboard on the screen covers the foot of the window: the sheet stands on it.
visualViewport?.addEventListener("resize", () => {
  const { height = innerHeight, offsetTop = 0 } = visualViewport ?? {};
  dialog.style.bottom = `${Math.max(0, innerHeight - height - offsetTop)}px`;
});
