/** Deferred content: closed folds, which are sent with the receipts page and linked from here. */

import { queryAll } from "./dom.js";

/**
 * Replaces the links with their content; returns the receipts page with its links rebased to this page.
 * @param {string} text of that page
 */
export function restoreDeferred(text) {
  const receiptsPage = new DOMParser().parseFromString(text, "text/html");
  for (const link of queryAll("a[href^='../']", receiptsPage)) {
    link.setAttribute("href", (link.getAttribute("href") ?? "").slice("../".length));
  }
  for (const link of /** @type {HTMLAnchorElement[]} */ (queryAll("a[data-beside]"))) {
    const content = receiptsPage.getElementById(link.hash.slice(1));
    if (content) link.replaceWith(...content.cloneNode(true).childNodes);
  }
  return receiptsPage;
}
