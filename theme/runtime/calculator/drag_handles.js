/**
 * Drag handles: shapes of a drawing, or grips on a timeline, that are dragged, or moved by arrow keys, to
 * change an input. A shape
 * with `data-grip="input"` describes a move: `data-ahead` and `data-back` hold the values to set, or
 * `data-move` how many steps a move ahead is. Ahead is to the right, or up with `data-up`; a move is
 * `data-notch` units of the drawing long (of a grip a share of the timeline), `data-grip-key` identifies a handle in its drawing.
 * `data-grip-label`, `-now`, `-low`, `-high` and `-text` are for screen readers; a shape without a label is for the pointer only. A shape with
 * `data-press` is a switch: a click, Enter or the space bar sets that value.
 */

import { queryAll, setAttribute, closestTarget } from "../page/dom.js";

const KEY_DIRECTIONS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
const ARIA_ATTRIBUTES = {
  "aria-label": "gripLabel", "aria-valuenow": "gripNow", "aria-valuemin": "gripLow",
  "aria-valuemax": "gripHigh", "aria-valuetext": "gripText",
};

/** @typedef {(name: string | undefined) => import("./controls.js").Calculator | undefined} Find */

/** @param {Find} find */
export function listenToHandles(find) {
  for (const stage of queryAll("[data-stage]")) observeStage(stage);
  listenToKeys(find);
  listenToDrags(find);
}

/** Prepares the handles of a drawing whenever it is another, and keeps their focus. */
function observeStage(stage) {
  let focusedKey = "";
  stage.addEventListener("focusin", (event) => {
    focusedKey = closestTarget(event, "[data-grip]")?.dataset.gripKey ?? "";
  });
  stage.addEventListener("focusout", (event) => {
    if (event.relatedTarget) focusedKey = "";
  });
  const prepareHandles = () => {
    const handles = queryAll("[data-grip-label]", stage);
    if (handles.length) stage.querySelector("svg")?.setAttribute("role", "group");
    for (const handle of handles) {
      setAttribute(handle, "tabindex", "0");
      const isSwitch = "press" in handle.dataset;
      setAttribute(handle, "role", isSwitch ? "switch" : "slider");
      if (isSwitch) {
        setAttribute(handle, "aria-label", `${handle.dataset.gripLabel}: ${handle.dataset.gripText}`);
        setAttribute(handle, "aria-checked", String(handle.dataset.gripNow !== "0"));
      } else {
        for (const [name, key] of Object.entries(ARIA_ATTRIBUTES)) setAttribute(handle, name, handle.dataset[key] ?? "");
      }
    }
    const focusedHandle = focusedKey && handles.find((handle) => handle.dataset.gripKey === focusedKey);
    const focused = document.activeElement;
    // A shape may have become that of another handle.
    if (focusedHandle && focused !== focusedHandle && (focused === document.body || stage.contains(focused))) focusedHandle.focus();
  };
  // Browsers heed the drawing's own rule for touch, not that of a shape in it: a finger on a shape
  // that moves up and down would scroll the page. Beside such shapes it still does.
  stage.addEventListener("touchstart", (event) => {
    if (closestTarget(event, "[data-grip][data-up]")) event.preventDefault();
  }, { passive: false });
  stage.addEventListener("drawn", prepareHandles);
  prepareHandles();
}

/** @param {Find} find */
function listenToKeys(find) {
  document.addEventListener("keydown", (event) => {
    const handle = closestTarget(event, "[data-grip]"), direction = KEY_DIRECTIONS[event.key];
    if (!handle || event.ctrlKey || event.metaKey || event.altKey) return;
    const isSwitch = "press" in handle.dataset;
    if (isSwitch ? event.key !== "Enter" && event.key !== " " : !direction) return;
    event.preventDefault();
    event.stopPropagation();
    moveHandle(find, handle, direction ?? 1, event);
  }, { capture: true });
  document.addEventListener("click", (event) => {
    const handle = closestTarget(event, "[data-press]");
    if (handle) moveHandle(find, handle, 1, event);
  });
}

/** @param {Find} find */
function listenToDrags(find) {
  /** @type {{figure: HTMLElement, key: string, at: number, scale: number, up: boolean} | null} */
  let drag = null;
  const position = (/** @type {PointerEvent} */ event, isVertical) => (isVertical ? -event.clientY : event.clientX);

  document.addEventListener("pointerdown", (event) => {
    const handle = closestTarget(event, "[data-grip]"), figure = handle?.closest("figure");
    const svg = /** @type {any} */ (handle)?.ownerSVGElement;
    if (!handle || "press" in handle.dataset || !figure || event.button !== 0) return;
    event.preventDefault();
    // A finger's events go to the shape it began on, which the next drawing takes away.
    /** @type {Element} */ (event.target).releasePointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    const isVertical = "up" in handle.dataset;
    const scale = svg ? svg.clientWidth / svg.viewBox.baseVal.width : handle.parentElement?.clientWidth ?? 1;
    drag = { figure, up: isVertical, key: handle.dataset.gripKey ?? "", at: position(event, isVertical), scale };
    document.documentElement.classList.add("dragging");
  });

  document.addEventListener("pointermove", (event) => {
    if (!drag) return;
    // The drawing may have been replaced since: the handle is found again by its key.
    const handle = /** @type {HTMLElement | null} */ (
      drag.figure.querySelector(`[data-grip-key="${CSS.escape(drag.key)}"]`));
    const notch = Number(handle?.dataset.notch) * drag.scale;
    const way = Math.trunc((position(event, drag.up) - drag.at) / notch);
    if (!handle || !way) return;
    // Places follow one another: each move leads to the next one only. A number takes many steps at once.
    const notches = "move" in handle.dataset ? way : Math.sign(way);
    drag.at += notches * notch;
    moveHandle(find, handle, notches, event);
  });

  for (const kind of ["pointerup", "pointercancel"]) {
    document.addEventListener(kind, () => {
      drag = null;
      document.documentElement.classList.remove("dragging");
    });
  }
}

/** @param {Find} find @param {HTMLElement} handle @param {number} notches ahead, or back where negative */
function moveHandle(find, handle, notches, event) {
  const { grip: name = "", ahead, back, press, move: steps } = handle.dataset;
  const owner = /** @type {HTMLElement | null} */ (handle.closest("[data-of]"));
  const value = press ?? (notches > 0 ? ahead : back);
  const change = steps ? { nudge: { [name]: notches * Number(steps) } } : value && { values: { [name]: value } };
  if (change) find(owner?.dataset.of)?.change(change, event);
}
