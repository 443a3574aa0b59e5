/** Dragging of inline numbers: sideways changes the value; a click focuses the field. */

import { closestTarget, hasDock } from "../page/dom.js";
import { acceptText } from "./fields.js";

const PIXELS_PER_STEP = 4;
const FINE_FACTOR = 10;

/** @param {(box: HTMLInputElement, steps: number, event: PointerEvent) => void} onSteps */
export function listenForDrag(onSteps) {
  /** @type {HTMLInputElement | null} */
  let box = null;
  let startX = 0;
  let hasMoved = false;

  document.addEventListener("pointerdown", (event) => {
    const pressedBox = /** @type {HTMLInputElement | null} */ (closestTarget(event, "input.drag[data-of]"));
    // In a box that has the focus a drag selects text, as in any other.
    if (!pressedBox || event.button !== 0 || document.activeElement === pressedBox) return;
    event.preventDefault();
    [box, startX, hasMoved] = [pressedBox, event.clientX, false];
    // Of a press that is dispatched again the pointer may be up already.
    if (event.isTrusted) box.setPointerCapture(event.pointerId);
  });

  document.addEventListener("pointermove", (event) => {
    if (!box) return;
    const stepSize = PIXELS_PER_STEP * (event.shiftKey ? FINE_FACTOR : 1);
    const steps = Math.trunc((event.clientX - startX) / stepSize);
    if (!steps) return;
    if (!hasMoved) document.documentElement.classList.add("dragging");
    hasMoved = true;
    startX += steps * stepSize;
    acceptText(box);
    onSteps(box, steps, event);
  });

  document.addEventListener("pointerup", () => {
    if (box && !hasMoved && !hasDock()) {
      box.focus();
      box.select();
    }
    endDrag();
  });
  // The browser took the gesture over to scroll the page.
  document.addEventListener("pointercancel", endDrag);

  function endDrag() {
    box = null;
    document.documentElement.classList.remove("dragging");
  }
}
