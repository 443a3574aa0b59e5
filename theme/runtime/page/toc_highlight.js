/** Table of contents: highlights the section being read, and closes its popover after a choice. */

import { queryAll, setAttribute, closestTarget } from "./dom.js";

// Far above the window: a heading there counts as seen, so that a leap to the top is noticed too.
const ROOT_MARGIN = "1000000px 0px -66% 0px";

/** Highlights the last section whose heading is in the upper third of the window or above. */
function highlightSection() {
  const links = queryAll("[data-contents] a");
  const headings = links.map((link) => document.getElementById(link.getAttribute("href")?.slice(1) ?? ""));
  if (!headings.some(Boolean)) return;
  const passed = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target: heading, isIntersecting } of entries) {
      if (isIntersecting) passed.add(heading);
      else passed.delete(heading);
    }
    const current = headings.findLastIndex((heading) => heading && passed.has(heading));
    links.forEach((link, index) => {
      if (index === current) setAttribute(link, "aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  }, { rootMargin: ROOT_MARGIN });
  for (const heading of headings) if (heading) observer.observe(heading);
}

/** Closes the table of contents when a section is chosen, where it is a popover. */
function closeOnChoice() {
  const contents = document.getElementById("where");
  contents?.addEventListener("click", (event) => {
    if (closestTarget(event, "a") && contents.matches(":popover-open")) contents.hidePopover();
  });
}

highlightSection();
closeOnChoice();
