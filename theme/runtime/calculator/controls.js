/** Input events: turns typing, dragging, keys and sliders into changes of a calculator. */

import { closestTarget } from "../page/dom.js";
import { listenForDrag } from "./drag.js";
import { acceptText, fitBox, holdSlider, freezeWidth, markTyped } from "./fields.js";

/** Keys of a number box and of a handle. @type {Record<string, {nudge?: number, slide?: number}>} */
const BOX_KEYS = {
  ArrowUp: { nudge: 1 },
  ArrowDown: { nudge: -1 },
  PageUp: { nudge: 10 },
  PageDown: { nudge: -10 },
  Home: { slide: 0 },
  End: { slide: 1 },
};
/** A handle lies flat, so that left and right move it too. */
const SLIDER_KEYS = { ...BOX_KEYS, ArrowLeft: { nudge: -1 }, ArrowRight: { nudge: 1 } };

/**
 * @typedef {ReturnType<typeof import("./calculator.js").createCalculator>} Calculator
 * @param {(name: string | undefined) => Calculator | undefined} find
 */
export function listenToControls(find) {
  /** The state when the focused box was entered, for Escape. @type {Record<string, string>} */
  let focusState = {};
  const calculatorOf = (/** @type {HTMLElement} */ element) => find(element.dataset.of);
  /** Blur handler of the last box, run once no pointer is down. @type {(() => void) | null} */
  let pendingLeave = null;
  let isPressed = false;
  const runPendingLeave = () => {
    pendingLeave?.();
    pendingLeave = null;
  };

  document.addEventListener("focusin", (event) => {
    const box = /** @type {any} */ (closestTarget(event, "input[type=text][data-of]"));
    if (!box) return;
    focusState = { ...calculatorOf(box)?.state.base };
    freezeWidth(box, true);
  });

  document.addEventListener("input", (event) => {
    const control = /** @type {any} */ (closestTarget(event, "input[data-of], select[data-of], textarea[data-of]"));
    if (control) calculatorOf(control)?.change(readControl(control), event);
  });

  document.addEventListener("focusout", (event) => {
    const box = /** @type {any} */ (closestTarget(event, "input[type=text][data-of]"));
    if (!box) return;
    pendingLeave = () => {
      if (document.activeElement === box) return;
      showEngineText(calculatorOf(box), box);
      freezeWidth(box, false);
    };
    if (!isPressed) runPendingLeave();
  });

  document.addEventListener("keydown", (event) => {
    const control = /** @type {any} */ (closestTarget(event, "input[data-of]"));
    const calculator = control && calculatorOf(control);
    if (!calculator || event.ctrlKey || event.metaKey || event.altKey) return;
    if (control.type === "text" && event.key === "Enter") {
      acceptText(control);
      showEngineText(calculator, control);
    } else if (control.type === "text" && event.key === "Escape") {
      acceptText(control);
      revertBox(calculator, control, focusState, event);
    } else {
      stepByKey(calculator, control, event);
    }
  });

  document.addEventListener("pointerdown", (event) => {
    isPressed = true;
    holdSlider(closestTarget(event, "input[type=range][data-slide]"));
  }, true);
  for (const kind of ["pointerup", "pointercancel"]) {
    document.addEventListener(kind, () => {
      isPressed = false;
      holdSlider(null);
      setTimeout(runPendingLeave); // after the click, whose target must not move under the pointer
    });
  }
  document.addEventListener("change", (event) => {
    const slider = closestTarget(event, "input[type=range][data-slide]");
    if (slider) calculatorOf(slider)?.refresh();
  });
  listenForDrag((box, steps, event) => calculatorOf(box)?.change({ nudge: { [box.name]: steps } }, event));
}

/** @param {HTMLInputElement} control */
function readControl(control) {
  if (control.type === "range") {
    const share = control.valueAsNumber / Number(control.max);
    return { slide: { [control.dataset.slide ?? ""]: share } };
  }
  if (control.type === "checkbox") return { values: { [control.name]: control.checked ? "on" : "off" } };
  if (control.tagName === "SELECT") return { values: { [control.name]: control.value } };
  markTyped(control);
  fitBox(control);
  return { typed: { [control.name]: control.value } };
}

/** Shows the engine's text in a box, unless its own text is invalid or pending. */
function showEngineText(calculator, box) {
  const { reply, bad } = calculator?.state ?? {};
  const text = reply?.inputs[box.name]?.text;
  if (text === undefined || box.name in bad || calculator.isPending(box.name)) return;
  box.value = text;
  fitBox(box);
}

/** @param {Record<string, string>} focusState @param {Event} event */
function revertBox(calculator, box, focusState, event) {
  const { base, bad } = calculator.state;
  const isUnchanged = base[box.name] === focusState[box.name] && !(box.name in bad);
  if (isUnchanged && box.value === calculator.state.reply?.inputs[box.name]?.text) return;
  const { [box.name]: _, ...others } = base;
  const original = box.name in focusState ? { [box.name]: focusState[box.name] } : {};
  calculator.replace({ ...others, ...original }, event);
}

/** @param {HTMLInputElement} control @param {KeyboardEvent} event */
function stepByKey(calculator, control, event) {
  const isSlider = control.type === "range";
  const name = isSlider ? control.dataset.slide : control.name;
  const key = (isSlider ? SLIDER_KEYS : control.inputMode === "decimal" ? BOX_KEYS : {})[event.key];
  if (!key || !name) return;
  event.preventDefault();
  if (!isSlider) acceptText(control);
  const { nudge, slide } = key;
  calculator.change(nudge ? { nudge: { [name]: nudge } } : { slide: { [name]: slide } }, event);
}
