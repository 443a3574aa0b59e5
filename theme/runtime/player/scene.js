/**
 * A drawing made of frames, `[data-player]`, with its controls. Each frame is expanded once from the
 * changes into the attributes of every shape that ever changes.
 *
 * @typedef {[number, Record<string, string | null>, string | null]} ShapeChange
 * @typedef {{caption: string, changes: ShapeChange[]}} Frame
 * @typedef {Map<string, string | null>} State  "shape attribute" -> value, "shape" -> text
 */

import { all, attribute, write } from "../page/dom.js";
import { dataOf, whenWanted } from "../page/figures.js";
import { listenToPlayer, playButton } from "./controls.js";
import { createPlayer } from "./player.js";

/** @type {WeakMap<Element, (view: {svg: string, frames: Frame[]}) => void>} */
const updates = new WeakMap();
/** The newest drawing of a figure whose player has not started yet. @type {WeakMap<Element, any>} */
const early = new WeakMap();

/** Gives the figure its player as soon as it is wanted. @param {HTMLElement} figure */
export function prepareScene(figure) {
  whenWanted(figure, async () => {
    const { frames } = await dataOf(figure);
    startScene(figure, frames);
    const newer = early.get(figure);
    if (newer) updates.get(figure)?.(newer);
  });
}

/** @param {HTMLElement} figure @param {Frame[]} frames */
function startScene(figure, frames) {
  const stage = /** @type {HTMLElement} */ (figure.querySelector("[data-stage]"));
  let drawing = read(stage, frames);
  const part = (/** @type {string} */ name) => /** @type {any} */ (figure.querySelector(name));
  const [scrub, caption] = ["[data-scrub]", "[data-frame-caption]"].map(part);
  const writePlay = playButton(figure);

  const player = createPlayer(Number(scrub.value), {
    count: () => frames.length,
    show(frame) {
      stage.style.setProperty("--step", `${player.pace}ms`);
      drawing(frame);
      write(caption, "textContent", frames[frame].caption);
      write(scrub, "value", String(frame));
      attribute(scrub, "aria-valuetext", frames[frame].caption);
    },
    onPlaying(playing) {
      writePlay(playing);
      // While it plays the captions come too fast to be read aloud.
      attribute(caption, "aria-live", playing ? "off" : "polite");
    },
  });

  /** The steps in words, when they are to be read. */
  function list() {
    const steps = figure.querySelector("[data-steps]");
    if (!steps?.closest("details")?.open) return;
    steps.replaceChildren(...frames.map(({ caption: text }) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
  }

  updates.set(figure, (view) => {
    frames = view.frames;
    stage.innerHTML = view.svg;
    drawing = read(stage, frames);
    write(scrub, "max", String(frames.length - 1));
    list();
    player.redraw();
  });
  figure.querySelector("details.data")?.addEventListener("toggle", list);
  scrub.addEventListener("input", () => player.seek(scrub.valueAsNumber));
  listenToPlayer(figure, player);
}

/** @param {HTMLElement} figure @param {any} view */
export function showScene(figure, view) {
  for (const caption of all("[data-caption]", figure)) write(caption, "textContent", view.caption);
  const show = updates.get(figure);
  if (show) show(view);
  else early.set(figure, view);
}

/**
 * @param {HTMLElement} stage holding the drawing of the opening frame
 * @param {Frame[]} frames
 * @returns {(frame: number) => void} draws a frame
 */
function read(stage, frames) {
  const shapes = /** @type {SVGElement[]} */ ([...stage.querySelectorAll(".scene > *")]);
  const { first, states } = expand(shapes, frames);
  let now = first;
  return (frame) => {
    for (const [place, value] of states[frame]) {
      if (now.get(place) !== value) draw(shapes, place, value);
    }
    now = states[frame];
  };
}

/** @param {SVGElement[]} shapes @param {string} place @param {string | null} value */
function draw(shapes, place, value) {
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
function expand(shapes, frames) {
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
