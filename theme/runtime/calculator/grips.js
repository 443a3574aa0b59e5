/**
 * Shapes of a drawing that are dragged, or moved by arrow keys, to change an input. A shape with
 * `data-grip="input"` says what a move does: `data-ahead` and `data-back` hold the values to set, or
 * `data-move` how many steps a move ahead is. Ahead is to the right, or up with `data-up`; a move is
 * `data-notch` units of the drawing long, `data-grip-key` tells grips of one drawing apart. `data-grip-label`, `-now`, `-low`, `-high` and `-text` are
 * what a screen reader hears; a shape without a label is for the pointer only. A shape with
 * `data-press` is a switch: a click, Enter or the space bar sets that value.
 */

import { all, attribute, target } from "../page/dom.js";

const KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
const SPOKEN = {
  "aria-label": "gripLabel", "aria-valuenow": "gripNow", "aria-valuemin": "gripLow",
  "aria-valuemax": "gripHigh", "aria-valuetext": "gripText",
};

/** @typedef {(name: string | undefined) => import("./controls.js").Calculator | undefined} Find */

/** @param {Find} find */
export function startGrips(find) {
  for (const stage of all("[data-stage]")) watch(stage);
  listenToKeys(find);
  listenToDrags(find);
}

/** A drawing is replaced as a whole; the grip that had the focus keeps it. */
function watch(stage) {
  let focused = "";
  stage.addEventListener("focusin", (event) => {
    focused = target(event, "[data-grip]")?.dataset.gripKey ?? "";
  });
  stage.addEventListener("focusout", (event) => {
    if (event.relatedTarget) focused = "";
  });
  const prepare = () => {
    const grips = all("[data-grip-label]", stage);
    if (grips.length) stage.querySelector("svg")?.setAttribute("role", "group");
    for (const grip of grips) {
      attribute(grip, "tabindex", "0");
      const pressed = "press" in grip.dataset;
      attribute(grip, "role", pressed ? "switch" : "slider");
      if (pressed) {
        attribute(grip, "aria-label", `${grip.dataset.gripLabel}: ${grip.dataset.gripText}`);
        attribute(grip, "aria-checked", String(grip.dataset.gripNow !== "0"));
      } else {
        for (const [name, key] of Object.entries(SPOKEN)) attribute(grip, name, grip.dataset[key] ?? "");
      }
    }
    const same = focused && grips.find((grip) => grip.dataset.gripKey === focused);
    if (same && !stage.contains(document.activeElement)) same.focus();
  };
  // Browsers heed the drawing's own rule for touch, not that of a shape in it: a finger on a shape
  // that moves up and down would scroll the page. Beside such shapes it still does.
  stage.addEventListener("touchstart", (event) => {
    if (target(event, "[data-grip][data-up]")) event.preventDefault();
  }, { passive: false });
  new MutationObserver(prepare).observe(stage, { childList: true });
  prepare();
}

/** @param {Find} find */
function listenToKeys(find) {
  document.addEventListener("keydown", (event) => {
    const grip = target(event, "[data-grip]"), way = KEYS[event.key];
    if (!grip || event.ctrlKey || event.metaKey || event.altKey) return;
    const press = "press" in grip.dataset;
    if (press ? event.key !== "Enter" && event.key !== " " : !way) return;
    event.preventDefault();
    event.stopPropagation();
    move(find, grip, way ?? 1, event);
  }, { capture: true });
  document.addEventListener("click", (event) => {
    const grip = target(event, "[data-press]");
    if (grip) move(find, grip, 1, event);
  });
}

/** @param {Find} find */
function listenToDrags(find) {
  /** @type {{figure: HTMLElement, key: string, at: number, notch: number, up: boolean} | null} */
  let drag = null;
  const place = (/** @type {PointerEvent} */ event, up) => (up ? -event.clientY : event.clientX);

  document.addEventListener("pointerdown", (event) => {
    const grip = target(event, "[data-grip]"), figure = grip?.closest("figure");
    const svg = /** @type {any} */ (grip)?.ownerSVGElement;
    if (!grip || "press" in grip.dataset || !figure || !svg || event.button !== 0) return;
    event.preventDefault();
    // A finger's events go to the shape it began on, which the next drawing takes away.
    /** @type {Element} */ (event.target).releasePointerCapture(event.pointerId);
    grip.focus({ preventScroll: true });
    const up = "up" in grip.dataset, scale = svg.clientWidth / svg.viewBox.baseVal.width;
    drag = {
      figure, up, key: grip.dataset.gripKey ?? "", at: place(event, up),
      notch: Number(grip.dataset.notch) * scale,
    };
    document.documentElement.classList.add("dragging");
  });

  document.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const moved = Math.trunc((place(event, drag.up) - drag.at) / drag.notch);
    // The drawing may have been replaced since: the grip is found again by its key.
    const grip = moved && /** @type {HTMLElement | null} */ (
      drag.figure.querySelector(`[data-grip-key="${CSS.escape(drag.key)}"]`));
    if (!grip) return;
    drag.at += Math.sign(moved) * drag.notch;
    move(find, grip, Math.sign(moved), event);
  });

  for (const kind of ["pointerup", "pointercancel"]) {
    document.addEventListener(kind, () => {
      drag = null;
      document.documentElement.classList.remove("dragging");
    });
  }
}

/** @param {Find} find @param {HTMLElement} grip @param {number} way 1 ahead, -1 back */
function move(find, grip, way, event) {
  const { grip: name = "", ahead, back, press, move: steps } = grip.dataset;
  const owner = /** @type {HTMLElement | null} */ (grip.closest("[data-of]"));
  const value = press ?? (way > 0 ? ahead : back);
  const change = steps ? { nudge: { [name]: way * Number(steps) } } : value && { values: { [name]: value } };
  if (change) find(owner?.dataset.of)?.change(change, event);
}
