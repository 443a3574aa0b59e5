/**
 * A calculator in an iframe: tells the page around it how tall it is, and leads home with the
 * reader's numbers. It listens to nobody, so a page around it can do no more than show it.
 */

import { target } from "./dom.js";

if (parent !== window) {
  const tell = () => parent.postMessage({ wallclockHeight: document.body.scrollHeight }, "*");
  new ResizeObserver(tell).observe(document.body);
}

document.addEventListener("click", (event) => {
  const link = target(event, "a[data-home]");
  if (!(link instanceof HTMLAnchorElement)) return;
  const home = new URL(link.href), given = new URLSearchParams(location.search);
  given.delete("scheme");
  given.delete("size");
  home.search = given.toString();
  link.href = home.href;
});
