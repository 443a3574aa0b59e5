/** The list of the page's sections marks the one that is being read, and folds away once used. */

import { all, attribute, target } from "./dom.js";

// Far above the window: a heading there counts as seen, so that a leap to the top is noticed too.
const ABOVE = "1000000px 0px -66% 0px";

/** Marks the last section whose heading has come up to a third of the window. */
export function markPlace() {
  const links = all("[data-contents] a");
  const headings = links.map((link) => document.getElementById(link.getAttribute("href")?.slice(1) ?? ""));
  if (!headings.some(Boolean)) return;
  const above = new Set();
  const watch = new IntersectionObserver((seen) => {
    for (const { target: heading, isIntersecting } of seen) {
      if (isIntersecting) above.add(heading);
      else above.delete(heading);
    }
    const now = headings.findLastIndex((heading) => heading && above.has(heading));
    links.forEach((link, at) => {
      if (at === now) attribute(link, "aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }, { rootMargin: ABOVE });
  for (const heading of headings) if (heading) watch.observe(heading);
}

/** On a small window the list lies over the text: a chosen section takes its place. */
export function foldPlace() {
  const where = document.getElementById("where");
  where?.addEventListener("click", (event) => {
    if (target(event, "a") && where.matches(":popover-open")) where.hidePopover();
  });
}
