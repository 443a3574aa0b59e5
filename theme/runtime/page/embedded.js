/**
 * Script of an embedded calculator (inside an iframe): posts its height to the parent page and adds the
 * reader's inputs to the link home. It receives no messages, so the parent can only show it.
 */

import { closestTarget } from "./dom.js";

if (parent !== window) {
  const postHeight = () => parent.postMessage({ wallclockHeight: document.body.scrollHeight }, "*");
  new ResizeObserver(postHeight).observe(document.body);
}

document.addEventListener("click", (event) => {
  const link = closestTarget(event, "a[data-home]");
  if (!(link instanceof HTMLAnchorElement)) return;
  const home = new URL(link.href), query = new URLSearchParams(location.search);
  query.delete("scheme");
  query.delete("size");
  home.search = query.toString();
  link.href = home.href;
});
