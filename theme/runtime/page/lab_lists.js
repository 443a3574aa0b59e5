/** Lists beside the text make way for labs as wide as the window. */

import { queryAll } from "./dom.js";

const labs = queryAll(".workbench");
const lists = queryAll(".where .contents > div");
const covering = new Set();

/** Observes the labs where they pass over the lists. */
function observeLabs() {
  const height = Math.max(...lists.map((list) => list.offsetHeight)) + 40;
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) covering.add(target);
      else covering.delete(target);
    }
    document.documentElement.toggleAttribute("data-lab", covering.size > 0);
  }, { rootMargin: `0px 0px ${Math.min(0, height - innerHeight)}px 0px` });
  for (const lab of labs) observer.observe(lab);
}

if (lists.length) observeLabs();
