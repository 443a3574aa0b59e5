/**
 * Scene: a drawing made of frames, `[data-player]`, with a player. Each frame is expanded once from the
 * changes into the attributes of every shape that ever changes.
 *
 * @typedef {[number, Record<string, string | null>, string | null]} ShapeChange
 * @typedef {{caption: string, changes: ShapeChange[]}} Frame
 * @typedef {Map<string, string | null>} State  "shape attribute" -> value, "shape" -> text
 */

import { morph } from "../calculator/morph.js";
import { queryAll, setAttribute, setProperty } from "../page/dom.js";
import { fetchFigureData, onFirstUse } from "../page/figures.js";
import { listenToPlayer, createPlayButton } from "./controls.js";
import { createPlayer } from "./player.js";

/** @type {WeakMap<Element, (view: {svg: string, frames: Frame[]}) => void>} */
const sceneUpdates = new WeakMap();
/** Newest view of each figure whose player has not started yet. @type {WeakMap<Element, any>} */
const earlyViews = new WeakMap();

/** Starts the figure's player on first use. @param {HTMLElement} figure */
export function prepareScene(figure) {
  onFirstUse(figure, async () => {
    const { frames } = await fetchFigureData(figure);
    startScene(figure, frames);
    const newerView = earlyViews.get(figure);
    if (newerView) sceneUpdates.get(figure)?.(newerView);
  });
}

/** @param {HTMLElement} figure @param {Frame[]} frames */
function startScene(figure, frames) {
  const stage = /** @type {HTMLElement} */ (figure.querySelector("[data-stage]"));
  let drawFrame = createFrameRenderer(stage, frames);
  const part = (/** @type {string} */ name) => /** @type {any} */ (figure.querySelector(name));
  const [scrub, caption] = ["[data-scrub]", "[data-frame-caption]"].map(part);
  const renderPlayButton = createPlayButton(figure);

  const player = createPlayer(Number(scrub.value), {
    count: () => frames.length,
    show(frame) {
      stage.style.setProperty("--step", `${player.pace}ms`);
      drawFrame(frame);
      setProperty(caption, "textContent", frames[frame].caption);
      setProperty(scrub, "value", String(frame));
      setAttribute(scrub, "aria-valuetext", frames[frame].caption);
    },
    onPlaying(playing) {
      renderPlayButton(playing);
      // While it plays the captions come too fast to be read aloud.
      setAttribute(caption, "aria-live", playing ? "off" : "polite");
    },
  });

  /** The steps in words, when they are to be read. */
  function renderSteps() {
    const steps = figure.querySelector("[data-steps]");
    if (!steps?.closest("details")?.open) return;
    steps.replaceChildren(...frames.map(({ caption: text }) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
  }

  sceneUpdates.set(figure, (view) => {
    frames = view.frames;
    morph(stage, view.svg);
    stage.dispatchEvent(new Event("drawn"));
    drawFrame = createFrameRenderer(stage, frames);
    setProperty(scrub, "max", String(frames.length - 1));
    renderSteps();
    player.redraw();
  });
  figure.querySelector("details.data")?.addEventListener("toggle", renderSteps);
  scrub.addEventListener("input", () => player.seek(scrub.valueAsNumber));
  listenToPlayer(figure, player);
}

/** @param {HTMLElement} figure @param {any} view */
export function renderScene(figure, view) {
  for (const caption of queryAll("[data-caption]", figure)) setProperty(caption, "textContent", view.caption);
  const update = sceneUpdates.get(figure);
  if (update) update(view);
  else earlyViews.set(figure, view);
}

/**
 * @param {HTMLElement} stage holding the drawing of the opening frame
 * @param {Frame[]} frames
 * @returns {(frame: number) => void} draws a frame
 */
function createFrameRenderer(stage, frames) {
  const shapes = /** @type {SVGElement[]} */ ([...stage.querySelectorAll(".scene > *")]);
  const { first, states } = expandFrames(shapes, frames);
  let current = first;
  return (frame) => {
    for (const [place, value] of states[frame]) {
      if (current.get(place) !== value) drawAttribute(shapes, place, value);
    }
    current = states[frame];
  };
}

/** @param {SVGElement[]} shapes @param {string} place @param {string | null} value */
function drawAttribute(shapes, place, value) {
  const [index, name] = place.split(" ");
  const shape = shapes[Number(index)];
  if (!name) shape.textContent = value;
  else if (value === null) shape.removeAttribute(name);
  else shape.setAttribute(name, value);
}

/**
 * @param {SVGElement[]} shapes as the opening frame shows them
 * @param {Frame[]} frames
 * @returns {{first: State, states: State[]}} what is drawn now, and every frame's state
 */
function expandFrames(shapes, frames) {
  /** @type {State} */
  const first = new Map();
  for (const [index, attributes, text] of frames.flatMap((frame) => frame.changes)) {
    for (const name of Object.keys(attributes)) {
      first.set(`${index} ${name}`, shapes[index].getAttribute(name));
    }
    if (text !== null) first.set(`${index}`, shapes[index].textContent);
  }
  const states = [];
  let state = first;
  for (const { changes } of frames) {
    state = new Map(state);
    for (const [index, attributes, text] of changes) {
      for (const [name, value] of Object.entries(attributes)) state.set(`${index} ${name}`, value);
      if (text !== null) state.set(`${index}`, text);
    }
    states.push(state);
  }
  return { first, states };
}
