/** Tabs between pages: links carry this page's state; arrow keys move the focus. */

import { queryAll, closestTarget } from "./dom.js";

const STEPS = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };

/** @param {() => string} permalink the address of this page as it is now */
export function listenToTabs(permalink) {
  // Whatever way a link is used, one of these comes before.
  for (const kind of ["pointerover", "pointerdown", "focusin", "keydown", "click"]) {
    document.addEventListener(kind, (event) => addState(event, permalink), { capture: true });
  }
  document.addEventListener("keydown", moveFocus);
}

function addState(event, permalink) {
  const link = closestTarget(event, "[data-tabs] a");
  if (link instanceof HTMLAnchorElement) link.search = new URL(permalink()).search;
}

function moveFocus(event) {
  const link = closestTarget(event, "[data-tabs] a");
  const step = STEPS[event.key];
  if (!link || !step || event.altKey || event.ctrlKey || event.metaKey) return;
  const links = queryAll("[data-tabs] a");
  const last = links.length - 1;
  const index = Math.min(Math.max(links.indexOf(link) + step, 0), last);
  event.preventDefault();
  links[index].focus();
}
