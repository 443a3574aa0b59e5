/**
 * Places a popover beside what opened it: in the right margin where there is room, else under it.
 * On a phone the style sheet makes it a sheet at the bottom, and this leaves it alone.
 */

import { target } from "./dom.js";

const GAP = 24;
const EDGE = 12;
/** What a margin must be wide enough for, and what a popover never exceeds. */
const [NARROW, WIDE] = [380, 396];
const COLUMN = ".calculator, figure, p, li, article";

/** @type {HTMLElement | null} */
let opener = null;

export function listenToPopovers() {
  document.addEventListener("click", (event) => {
    opener = target(event, "[popovertarget]") ?? opener;
  }, { capture: true });
  // A toggle does not bubble, but it can be caught on its way down.
  document.addEventListener("toggle", (event) => {
    const popover = opened(event);
    if (popover) place(popover);
  }, { capture: true });
}

/** The popover that an event tells of, if it has been opened. @param {Event} event */
export function opened(event) {
  const popover = /** @type {HTMLElement} */ (event.target);
  const open = popover.matches("[popover]") && /** @type {ToggleEvent} */ (event).newState === "open";
  return open ? popover : null;
}

/** @param {HTMLElement} popover */
export function place(popover) {
  if (!opener || opener.getAttribute("popovertarget") !== popover.id) return;
  const spot = opener.getBoundingClientRect();
  const column = (opener.closest(COLUMN) ?? opener).getBoundingClientRect();
  const page = document.documentElement.clientWidth;
  const room = page - column.right - GAP - EDGE;
  const beside = room >= NARROW;
  if (beside) popover.style.setProperty("--room", `${Math.min(room, WIDE)}px`);
  else popover.style.removeProperty("--room");
  popover.classList.add("placed");
  const { offsetWidth: width, offsetHeight: height } = popover;
  const left = beside ? column.right + GAP : Math.min(Math.max(spot.left, EDGE), page - width - EDGE);
  const under = spot.bottom + 8;
  const fits = under + height <= innerHeight || spot.top < height + 8;
  const top = beside ? Math.min(spot.top, Math.max(EDGE, innerHeight - height - EDGE))
    : fits ? under : spot.top - height - 8;
  popover.style.setProperty("--left", `${left + scrollX}px`);
  popover.style.setProperty("--top", `${Math.max(top + scrollY, EDGE)}px`);
}
