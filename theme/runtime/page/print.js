/** On paper everything is unfolded; afterwards all is as it was. */

import { all } from "./dom.js";

export function listenForPrint() {
  /** @type {HTMLElement[]} */
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("main details:not([open])").filter((one) => !one.matches("[data-answer]"));
    for (const one of opened) one.setAttribute("open", "");
  });
  addEventListener("afterprint", () => {
    for (const one of opened) one.removeAttribute("open");
  });
}
