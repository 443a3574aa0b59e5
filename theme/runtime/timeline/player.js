/**
 * Timeline player: play, step, scrub, zoom, and pin a run for comparison. All that is drawn follows
 * from the view, the zoomed range and the time.
 */

import { axisFraction } from "../charts/frame.js";
import { layoutChart } from "../charts/chart_layout.js";
import { attachPointing } from "../charts/pointing.js";
import { setAttribute, setProperty } from "../page/dom.js";
import { listenToPlayer, createPlayButton } from "../player/controls.js";
import { createClock } from "./clock.js";
import { waitChain, timelineEvents, createDescriber } from "./events.js";
import { OVERLAY_PATHS, createTimelineOverlay, runEnd } from "./timeline_overlay.js";
import { listenToZoom, zoomAxis } from "./zoom.js";

const SLIDER_STEPS = 10_000; // of the grip on the axis
const ROOM = 2; // times as long becomes a held axis that a run outgrows

/**
 * @param {HTMLElement} figure
 * @param {any} initialView the view to begin with
 * @param {{draw: (view: any, marks: any) => void}} chart under the player
 */
export function createTimelinePlayer(figure, initialView, { draw }) {
  const query = (/** @type {string} */ name) => /** @type {any} */ (figure.querySelector(name));
  const [caption, pinButton] = ["[data-frame-caption]", "[data-pin]"].map(query);
  const [hint, pinText] = [caption.innerText, pinButton.textContent];
  const formatMessage = (key, parts = {}) =>
    fillPlaceholders(document.querySelector("[data-told]")?.getAttribute(`data-${key}`) ?? "", parts);
  const { describeEvent, describeSpan, describeIdle } = createDescriber(formatMessage);
  let view = initialView, shownView = initialView, marks = layoutChart(initialView), events = timelineEvents(initialView);
  let pinnedView = /** @type {any} */ (null);
  /** The run before the reader's last change, and the axis while a pointer changes it: see `hold`. */
  let earlierView = /** @type {any} */ (null), ghostView = /** @type {any} */ (null), heldAxis = /** @type {any} */ (null);
  let range = /** @type {[number, number] | null} */ (null);

  const pointing = attachPointing(figure, { paths: OVERLAY_PATHS, onChoose: renderExplanation });
  const { plot } = pointing, overlay = createTimelineOverlay(pointing.layer),
    slider = createSlider(plot, formatMessage("time"));
  const renderPlayButton = createPlayButton(figure);
  const clock = createClock({
    events: () => events.map(({ at }) => at),
    show: showTime,
    onPlaying(playing) {
      renderPlayButton(playing);
      // While it plays the sentences come too fast to be read aloud.
      setAttribute(caption, "aria-live", playing ? "off" : "polite");
    },
  });

  /** Redraws the zoomed view and its overlay. */
  function redraw() {
    const whole = longerView(), axis = wholeAxis(), then = pinnedView ?? ghostView;
    shownView = { ...view, axis: range ? zoomAxis(axis, whole.player.finer, range) : axis };
    marks = layoutChart(shownView);
    draw(shownView, marks);
    pointing.show(shownView, marks);
    for (const side of ["left", "right", "top", "height"]) {
      plot.style.setProperty(`--${side}`, `${marks.frame[side]}px`);
    }
    overlay.drawVeil(shownView, marks);
    overlay.drawGhost(then, shownView, marks,
      then ? formatMessage(pinnedView ? "ghost" : "before", { then: runEnd(then).text }) : "");
    overlay.drawChain(chosenChain(), marks);
    drawTime(clock.now);
    setAttribute(query("[data-whole]"), "aria-disabled", String(!range));
  }

  /** Of this run and the pinned one, the one whose axis holds both. */
  function longerView() {
    const then = pinnedView ?? ghostView;
    return then && then.axis.high > view.axis.high ? then : view;
  }

  /** The axis of the longer run; while it is held, the one it was, made longer only when a run outgrows it. */
  function wholeAxis() {
    const { axis } = longerView();
    if (!heldAxis) return axis;
    if (axis.high > heldAxis.high) heldAxis = { ...axis, high: axis.low + ROOM * (axis.high - axis.low) };
    return heldAxis;
  }

  function drawTime(time) {
    const x = axisFraction(shownView.axis, time);
    overlay.drawTime(x, clock.atEnd, marks);
    setProperty(slider, "value", String(Math.round(x * SLIDER_STEPS)));
    setAttribute(slider, "aria-valuetext", sentenceAt(time));
  }

  function sentenceAt(time) {
    return describeEvent(view, events.findLast(({ at }) => at <= time) ?? events[0]);
  }

  function showTime(time) {
    if (range && (time < range[0] || time > range[1])) scrollTo(time);
    drawTime(time);
    setProperty(caption, "textContent", sentenceAt(time));
  }

  /** The chosen span, or the one after the chosen pause, and before it what each waited for. */
  function chosenChain() {
    const { row, cell } = pointing.chosen ?? {};
    if (!row) return [];
    if (cell.index >= 0) return waitChain(view, cell.index);
    const nextCell = row.cells.find((other) => other.index >= 0 && other.start >= cell.end - 1e-12);
    const chain = nextCell ? waitChain(view, nextCell.index) : [];
    // What ended before the pause began is not why it lasts.
    const firstPast = chain.findIndex((index) => view.spans[index].end <= cell.start);
    return firstPast < 0 ? chain : chain.slice(0, firstPast);
  }

  function renderExplanation() {
    const { row, cell } = pointing.chosen ?? {}, chain = chosenChain();
    overlay.drawChain(chain, marks);
    if (!row) return;
    const sentence = cell.index >= 0 ? describeSpan(view, chain) : describeIdle(view, row.label, chain);
    setProperty(caption, "textContent", sentence);
    if (range && (cell.end < range[0] || cell.start > range[1])) scrollTo(cell.start);
  }

  /** Zooms to a range of the axis, or to all of it. @param {[number, number] | null} newRange */
  function setRange(newRange) {
    const { low, high } = wholeAxis(), length = high - low;
    const size = Math.min(newRange ? newRange[1] - newRange[0] : length, length);
    const from = Math.min(Math.max(newRange?.[0] ?? low, low), high - size);
    range = size < length ? [from, from + size] : null;
    redraw();
  }

  /** Scrolls the zoomed range so that a time lies near its left edge. */
  function scrollTo(time) {
    const size = range[1] - range[0];
    setRange([time - size / 10, time + size * 0.9]);
  }

  /** @param {number} times as large, around what is chosen or the time */
  function zoomBy(times) {
    const { low, high } = shownView.axis, size = (high - low) / times, cell = pointing.chosen?.cell;
    const middle = cell ? (cell.start + cell.end) / 2 : clock.atEnd ? (low + high) / 2 : clock.now;
    setRange([middle - size / 2, middle + size / 2]);
  }

  function togglePin() {
    pinnedView = pinnedView ? null : view;
    setProperty(pinButton, "textContent", pinnedView ? pinButton.dataset.unpinText : pinText);
    redraw();
  }

  pinButton.addEventListener("click", togglePin);
  slider.addEventListener("input", () => {
    const { low, high } = shownView.axis;
    clock.seek(low + (slider.valueAsNumber / SLIDER_STEPS) * (high - low));
  });
  plot.setAttribute("role", "application");
  plot.setAttribute("aria-label", formatMessage("picture", { title: view.title }));
  listenToPlayer(figure, clock);
  listenToZoom(figure, {
    axis: () => shownView.axis,
    frame: () => marks.frame,
    brush: (from, to) => overlay.drawBrush(from, to, marks),
    setRange,
    zoomBy,
  });
  redraw();

  return {
    redraw,
    /** From here on this run is the earlier one; the axis stays until `release`. @param {any} [earlier] */
    hold(earlier = view) {
      earlierView = earlier;
      heldAxis = longerView().axis;
    },
    release() {
      if (!heldAxis) return;
      heldAxis = null;
      redraw();
    },
    /** Follows the reader's inputs. @param {any} newView */
    update(newView) {
      const wasAtEnd = clock.atEnd;
      view = newView;
      if (earlierView) ghostView = JSON.stringify(earlierView) === JSON.stringify(newView) ? null : earlierView;
      events = timelineEvents(newView);
      if (range && range[1] > newView.axis.high) range = null;
      clock.updateEvents(wasAtEnd);
      redraw();
      if (pointing.chosen) renderExplanation();
      else if (wasAtEnd) setProperty(caption, "textContent", hint);
      const earlier = pinnedView ?? ghostView, [then, now] = [earlier ?? newView, newView].map((run) => runEnd(run).text);
      if (earlier) setProperty(caption, "textContent", formatMessage(pinnedView ? "pinned" : "changed", { then, now }));
    },
  };
}

/** The slider on the time axis: the foot of the line that marks the time. */
function createSlider(plot, label) {
  const slider = document.createElement("input");
  const attributes = { type: "range", min: "0", max: String(SLIDER_STEPS), step: "1", class: "handle" };
  for (const [name, value] of Object.entries({ ...attributes, "aria-label": label, autocomplete: "off" })) {
    slider.setAttribute(name, value);
  }
  slider.dataset.scrub = "";
  plot.append(slider);
  return slider;
}

/** Returns a text with its {placeholders} filled in. */
function fillPlaceholders(text, parts) {
  return text.replace(/\{(\w+)\}/g, (placeholder, name) => parts[name] ?? placeholder);
}
