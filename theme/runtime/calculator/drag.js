/** A number in a sentence is dragged sideways to change it; a click without a move types. */

import { target } from "../page/dom.js";
import { accept } from "./fields.js";

const PIXELS = 4;
const FINE = 10;

/** @param {(box: HTMLInputElement, steps: number, event: PointerEvent) => void} onSteps */
export function listenForDrag(onSteps) {
  /** @type {HTMLInputElement | null} */
  let box = null;
  let from = 0;
  let moved = false;

  document.addEventListener("pointerdown", (event) => {
    const found = /** @type {HTMLInputElement | null} */ (target(event, "input.drag[data-of]"));
    // In a box that has the focus a drag selects text, as in any other.
    if (!found || event.button !== 0 || document.activeElement === found) return;
    event.preventDefault();
    [box, from, moved] = [found, event.clientX, false];
    box.setPointerCapture(event.pointerId);
  });

  document.addEventListener("pointermove", (event) => {
    if (!box) return;
    const size = PIXELS * (event.shiftKey ? FINE : 1);
    const steps = Math.trunc((event.clientX - from) / size);
    if (!steps) return;
    if (!moved) document.documentElement.classList.add("dragging");
    moved = true;
    from += steps * size;
    accept(box);
    onSteps(box, steps, event);
  });

  document.addEventListener("pointerup", () => {
    if (box && !moved) {
      box.focus();
      box.select();
    }
    stop();
  });
  // The browser took the gesture over to scroll the page.
  document.addEventListener("pointercancel", stop);

  function stop() {
    box = null;
    document.documentElement.classList.remove("dragging");
  }
}
