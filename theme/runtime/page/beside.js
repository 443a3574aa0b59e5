/** What lies in closed folds is sent on the page of the receipts, to which a link stands in its place. */

import { all } from "./dom.js";

/**
 * Puts it in place of the links, and returns the page of the receipts, whose own links then hold here.
 * @param {string} text of that page
 */
export function putBack(text) {
  const found = new DOMParser().parseFromString(text, "text/html");
  for (const link of all("a[href^='../']", found)) {
    link.setAttribute("href", (link.getAttribute("href") ?? "").slice("../".length));
  }
  for (const link of /** @type {HTMLAnchorElement[]} */ (all("a[data-beside]"))) {
    const held = found.getElementById(link.hash.slice(1));
    if (held) link.replaceWith(...held.cloneNode(true).childNodes);
  }
  return found;
}
