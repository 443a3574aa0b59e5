/**
 * Popover placement: in the right margin next to the opener where there is room, else below it.
 * On a phone the style sheet makes it a sheet at the bottom.
 */

import { closestTarget } from "./dom.js";

const GAP = 24;
const WINDOW_MARGIN = 12;
/** Smallest margin that a popover fits into, and largest popover; pixels. */
const [MIN_ROOM, MAX_WIDTH] = [380, 396];
const COLUMN_SELECTOR = ".calculator, figure, p, li, article";

/** @type {HTMLElement | null} */
let opener = null;

export function listenToPopovers() {
  document.addEventListener("click", (event) => {
    opener = closestTarget(event, "[popovertarget]") ?? opener;
  }, { capture: true });
  // A toggle does not bubble, but it can be caught on its way down.
  document.addEventListener("toggle", (event) => {
    const popover = openedPopover(event);
    if (popover) placePopover(popover);
  }, { capture: true });
}

/** Returns the popover of a toggle event if it was opened. @param {Event} event */
export function openedPopover(event) {
  const popover = /** @type {HTMLElement} */ (event.target);
  const isOpen = popover.matches("[popover]") && /** @type {ToggleEvent} */ (event).newState === "open";
  return isOpen ? popover : null;
}

/** @param {HTMLElement} popover */
function placePopover(popover) {
  if (!opener || opener.getAttribute("popovertarget") !== popover.id) return;
  const openerBox = opener.getBoundingClientRect();
  const column = (opener.closest(COLUMN_SELECTOR) ?? opener).getBoundingClientRect();
  const page = document.documentElement.clientWidth;
  const marginRoom = page - column.right - GAP - WINDOW_MARGIN;
  const inMargin = marginRoom >= MIN_ROOM;
  if (inMargin) popover.style.setProperty("--room", `${Math.min(marginRoom, MAX_WIDTH)}px`);
  else popover.style.removeProperty("--room");
  popover.classList.add("placed");
  const { offsetWidth: width, offsetHeight: height } = popover;
  const left = inMargin ? column.right + GAP
    : Math.min(Math.max(openerBox.left, WINDOW_MARGIN), page - width - WINDOW_MARGIN);
  const below = openerBox.bottom + 8;
  const fits = below + height <= innerHeight || openerBox.top < height + 8;
  const top = inMargin ? Math.min(openerBox.top, Math.max(WINDOW_MARGIN, innerHeight - height - WINDOW_MARGIN))
    : fits ? below : openerBox.top - height - 8;
  popover.style.setProperty("--left", `${left + scrollX}px`);
  popover.style.setProperty("--top", `${Math.max(top + scrollY, WINDOW_MARGIN)}px`);
}
