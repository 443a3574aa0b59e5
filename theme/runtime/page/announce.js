/** Announcements for screen readers through a polite live region, debounced. */

import { setProperty } from "./dom.js";

const ANNOUNCE_DELAY = 600;
let timer = 0;

/** @param {string} sentence */
export function announce(sentence) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const region = document.querySelector("[data-live]");
    if (region) setProperty(region, "textContent", sentence);
  }, ANNOUNCE_DELAY);
}
