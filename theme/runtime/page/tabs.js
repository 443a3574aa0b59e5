/** Tabs that are pages: they take the state of this page along, and arrow keys go between them. */

import { all, target } from "./dom.js";

const WAYS = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };

/** @param {() => string} permalink the address of this page as it is now */
export function listenToTabs(permalink) {
  // Whatever way a link is used, one of these comes before.
  for (const kind of ["pointerover", "pointerdown", "focusin", "keydown", "click"]) {
    document.addEventListener(kind, (event) => carry(event, permalink), { capture: true });
  }
  document.addEventListener("keydown", move);
}

function carry(event, permalink) {
  const link = target(event, "[data-tabs] a");
  if (link instanceof HTMLAnchorElement) link.search = new URL(permalink()).search;
}

function move(event) {
  const link = target(event, "[data-tabs] a");
  const way = WAYS[event.key];
  if (!link || !way || event.altKey || event.ctrlKey || event.metaKey) return;
  const links = all("[data-tabs] a");
  const last = links.length - 1;
  const at = Math.min(Math.max(links.indexOf(link) + way, 0), last);
  event.preventDefault();
  links[at].focus();
}
