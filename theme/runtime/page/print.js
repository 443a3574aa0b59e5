/** On paper everything is unfolded but hints, answers and tables of an older state. */

import { all, isOld } from "./dom.js";

const CLOSED = "[data-answer], [data-hint], .hint";

export function listenForPrint() {
  /** @type {HTMLElement[]} */
  let opened = [];
  addEventListener("beforeprint", () => {
    const folded = all("main details:not([open])");
    opened = folded.filter((one) => !one.matches(CLOSED) && !isOld(one));
    for (const one of opened) one.setAttribute("open", "");
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.removeAttribute("open");
  });
}
