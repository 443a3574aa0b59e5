/** Opens a touched input in the dock; its own box does not take the focus, which would raise the keyboard. */

import { closestTarget, hasDock } from "./dom.js";

const BOXES = ".field-number > :not(.error), input.drag";
const CHOSEN = ":is(.field, .inline-field) > :is(select, [type=checkbox])";

for (const [type, selector] of [["mousedown", BOXES], ["click", BOXES], ["change", CHOSEN]]) {
  document.addEventListener(type, async (event) => {
    const part = hasDock() && closestTarget(event, selector);
    if (!part) return;
    if (!part.matches(".slider, select, [type=checkbox]")) event.preventDefault();
    if (type !== "mousedown") (await import("./panel.js")).openPanel("dock", part.parentElement);
  });
}
