/** Printing: opens all folds but hints, answers and stale tables. */

import { restoreDeferred } from "./deferred_content.js";
import { queryAll, isStaleTable } from "./dom.js";

const KEPT_CLOSED = "[data-answer], [data-hint], .hint";

export function listenForPrint() {
  /** @type {HTMLElement[]} */
  let opened = [];
  addEventListener("beforeprint", () => {
    if (document.querySelector("main [data-beside]")) fetchDeferredSync();
    const closed = queryAll("main details:not([open])");
    opened = closed.filter((details) => !details.matches(KEPT_CLOSED) && !isStaleTable(details));
    for (const details of opened) details.setAttribute("open", "");
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.removeAttribute("open");
  });
}

/** Fetches deferred content synchronously, since printing does not wait. */
function fetchDeferredSync() {
  const request = new XMLHttpRequest();
  request.open("GET", document.body.dataset.receipts ?? "", false);
  try {
    request.send();
    if (request.status === 200) restoreDeferred(request.responseText);
  } catch {} // without a network the links stay
}
