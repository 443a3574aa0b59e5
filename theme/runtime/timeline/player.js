/**
 * A run over time that can be played, stepped, scrubbed, looked at closely and pinned for
 * comparison. All that is drawn follows from the view, the part looked at and one time.
 */

import { share } from "../charts/frame.js";
import { picture } from "../charts/picture.js";
import { attachPointing } from "../charts/pointing.js";
import { attribute, write } from "../page/dom.js";
import { listenToPlayer, playButton } from "../player/controls.js";
import { createClock } from "./clock.js";
import { chainOf, eventsOf, teller } from "./events.js";
import { PATHS, createOver, endOf } from "./over.js";
import { listenToZoom, within } from "./zoom.js";

const STOPS = 10_000; // of the grip on the axis

/**
 * @param {HTMLElement} figure
 * @param {any} first the view to begin with
 * @param {{draw: (view: any, drawn: any) => void}} chart under the player
 */
export function createTimelinePlayer(figure, first, { draw }) {
  const part = (/** @type {string} */ name) => /** @type {any} */ (figure.querySelector(name));
  const [caption, pinButton] = ["[data-frame-caption]", "[data-pin]"].map(part);
  const [hint, pinText] = [caption.textContent, pinButton.textContent];
  const say = (key, parts = {}) => filled(document.querySelector("[data-told]")?.getAttribute(`data-${key}`) ?? "", parts);
  const { happening, span, idle } = teller(say);
  let base = first, shown = first, drawn = picture(first), events = eventsOf(first);
  let pinned = /** @type {any} */ (null);
  let range = /** @type {[number, number] | null} */ (null);

  const pointing = attachPointing(figure, { paths: PATHS, onChoose: explain });
  const { plot } = pointing, over = createOver(pointing.layer), grip = gripOn(plot, say("time"));
  const writePlay = playButton(figure);
  const clock = createClock({
    events: () => events.map(({ at }) => at),
    show: showTime,
    onPlaying(playing) {
      writePlay(playing);
      // While it plays the sentences come too fast to be read aloud.
      attribute(caption, "aria-live", playing ? "off" : "polite");
    },
  });

  /** Draws the view as it is looked at now, and everything over it. */
  function redraw() {
    const whole = longer(), axis = whole.axis;
    shown = { ...base, axis: range ? within(axis, whole.player.finer, range) : axis };
    drawn = picture(shown);
    draw(shown, drawn);
    pointing.show(shown, drawn);
    for (const side of ["left", "right", "top", "height"]) {
      plot.style.setProperty(`--${side}`, `${drawn.frame[side]}px`);
    }
    over.veil(shown, drawn);
    over.ghost(pinned, shown, drawn, pinned ? say("ghost", { then: endOf(pinned).text }) : "");
    over.chain(chosenChain(), drawn);
    drawTime(clock.now);
    attribute(part("[data-whole]"), "aria-disabled", String(!range));
  }

  /** Of this run and the pinned one, the one whose axis holds both. */
  function longer() {
    return pinned && pinned.axis.high > base.axis.high ? pinned : base;
  }

  function drawTime(time) {
    const x = share(shown.axis, time);
    over.time(x, clock.atEnd, drawn);
    write(grip, "value", String(Math.round(x * STOPS)));
    attribute(grip, "aria-valuetext", sentenceAt(time));
  }

  function sentenceAt(time) {
    return happening(base, events.findLast(({ at }) => at <= time) ?? events[0]);
  }

  function showTime(time) {
    if (range && (time < range[0] || time > range[1])) turnTo(time);
    drawTime(time);
    write(caption, "textContent", sentenceAt(time));
  }

  /** The chosen span, or the one after the chosen pause, and before it what each waited for. */
  function chosenChain() {
    const { row, cell } = pointing.chosen ?? {};
    if (!row) return [];
    if (cell.index >= 0) return chainOf(base, cell.index);
    const next = row.cells.find((one) => one.index >= 0 && one.start >= cell.end - 1e-12);
    const chain = next ? chainOf(base, next.index) : [];
    // What ended before the pause began is not why it lasts.
    const past = chain.findIndex((index) => base.spans[index].end <= cell.start);
    return past < 0 ? chain : chain.slice(0, past);
  }

  function explain() {
    const { row, cell } = pointing.chosen ?? {}, chain = chosenChain();
    over.chain(chain, drawn);
    if (!row) return;
    const sentence = cell.index >= 0 ? span(base, chain) : idle(base, row.label, chain);
    write(caption, "textContent", sentence);
    if (range && (cell.end < range[0] || cell.start > range[1])) turnTo(cell.start);
  }

  /** Looks at a part of the axis, or at all of it. @param {[number, number] | null} next */
  function look(next) {
    const { low, high } = longer().axis, most = high - low;
    const size = Math.min(next ? next[1] - next[0] : most, most);
    const from = Math.min(Math.max(next?.[0] ?? low, low), high - size);
    range = size < most ? [from, from + size] : null;
    redraw();
  }

  /** Moves the part that is looked at so that a time lies near its left edge. */
  function turnTo(time) {
    const size = range[1] - range[0];
    look([time - size / 10, time + size * 0.9]);
  }

  /** @param {number} times as large, around what is chosen or the time */
  function zoom(times) {
    const { low, high } = shown.axis, size = (high - low) / times, cell = pointing.chosen?.cell;
    const middle = cell ? (cell.start + cell.end) / 2 : clock.atEnd ? (low + high) / 2 : clock.now;
    look([middle - size / 2, middle + size / 2]);
  }

  function pin() {
    pinned = pinned ? null : base;
    write(pinButton, "textContent", pinned ? pinButton.dataset.unpinText : pinText);
    redraw();
  }

  pinButton.addEventListener("click", pin);
  grip.addEventListener("input", () => {
    const { low, high } = shown.axis;
    clock.seek(low + (grip.valueAsNumber / STOPS) * (high - low));
  });
  plot.setAttribute("role", "application");
  plot.setAttribute("aria-label", say("picture", { title: base.title }));
  listenToPlayer(figure, clock);
  listenToZoom(figure, {
    axis: () => shown.axis,
    frame: () => drawn.frame,
    brush: (from, to) => over.brush(from, to, drawn),
    look,
    zoom,
  });
  redraw();

  return {
    redraw,
    /** Follows the reader's inputs. @param {any} view */
    take(view) {
      const wasAtEnd = clock.atEnd;
      base = view;
      events = eventsOf(view);
      if (range && range[1] > view.axis.high) range = null;
      clock.renew(wasAtEnd);
      redraw();
      if (pointing.chosen) explain();
      else if (wasAtEnd) write(caption, "textContent", hint);
      const [then, now] = [pinned ?? view, view].map((one) => endOf(one).text);
      if (pinned) write(caption, "textContent", say("pinned", { then, now }));
    },
  };
}

/** The slider on the time axis: the foot of the line that marks the time. */
function gripOn(plot, label) {
  const grip = document.createElement("input");
  const attributes = { type: "range", min: "0", max: String(STOPS), step: "1", class: "handle" };
  for (const [name, value] of Object.entries({ ...attributes, "aria-label": label, autocomplete: "off" })) {
    grip.setAttribute(name, value);
  }
  grip.dataset.scrub = "";
  plot.append(grip);
  return grip;
}

/** A text with {names} filled in. */
function filled(text, parts) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => parts[name] ?? whole);
}
