/** The page that makes the HTML for an iframe, and shows what it will look like. */

import { copy } from "./clipboard.js";
import { snippet } from "./snippet.js";

const form = /** @type {HTMLElement} */ (document.querySelector("[data-embedding]"));
const part = (/** @type {string} */ name) => /** @type {any} */ (form.querySelector(`[data-embedding-${name}]`));
const [which, scheme, code, copying, preview] = ["which", "scheme", "code", "copy", "preview"].map(part);
let height = 800;

/** @type {HTMLIFrameElement | null} */
let frame = null;

function show() {
  const { value: name, selectedOptions: [option] } = which;
  code.value = snippet({ name, title: option.textContent ?? name, height, scheme: scheme.value });
}

function look() {
  const source = /src="([^"]*)"/.exec(code.value)?.[1].replace(/&amp;/g, "&") ?? "";
  frame ??= preview.appendChild(document.createElement("iframe"));
  frame.title = which.selectedOptions[0].textContent ?? "";
  frame.src = source;
}

addEventListener("message", ({ data, source }) => {
  if (!frame || source !== frame.contentWindow || !Number.isFinite(data?.wallclockHeight)) return;
  height = data.wallclockHeight;
  frame.style.height = `${data.wallclockHeight}px`;
  show();
});
for (const control of [which, scheme]) {
  control.disabled = false;
  control.addEventListener("change", () => {
    show();
    look();
  });
}
copying.disabled = false;
copying.addEventListener("click", () => copy(copying, code.value));
show();
look();
