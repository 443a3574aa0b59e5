/** The list of the page's sections marks the one that is being read. */

import { all, attribute } from "./dom.js";

/** Marks the last section whose heading has come up to a third of the window. */
export function markPlace() {
  const links = all("[data-contents] a");
  const headings = links.map((link) => document.getElementById(link.getAttribute("href")?.slice(1) ?? ""));
  if (!headings.some(Boolean)) return;
  const above = new Set();
  const watch = new IntersectionObserver((seen) => {
    for (const { target, boundingClientRect, rootBounds } of seen) {
      if (boundingClientRect.top < (rootBounds?.bottom ?? 0)) above.add(target);
      else above.delete(target);
    }
    const now = headings.findLastIndex((heading) => heading && above.has(heading));
    links.forEach((link, at) => {
      if (at === now) attribute(link, "aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }, { rootMargin: "0px 0px -66% 0px" });
  for (const heading of headings) if (heading) watch.observe(heading);
}
