/** Says results aloud, politely: one sentence, when the reader has paused. */

import { write } from "./dom.js";

const PAUSE = 600;
let timer = 0;

/** @param {string} sentence */
export function announce(sentence) {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const region = document.querySelector("[data-live]");
    if (region) write(region, "textContent", sentence);
  }, PAUSE);
}
