/** Generator of embed code: writes the HTML of an iframe and shows a preview. */

import { copyText } from "./clipboard.js";
import { embedSnippet } from "./embed_snippet.js";

const form = /** @type {HTMLElement} */ (document.querySelector("[data-embedding]"));
const part = (/** @type {string} */ name) => /** @type {any} */ (form.querySelector(`[data-embedding-${name}]`));
const [calculatorSelect, schemeSelect, codeField, copyButton, preview] =
  ["which", "scheme", "code", "copy", "preview"].map(part);
let height = 800;

/** @type {HTMLIFrameElement | null} */
let frame = null;

function renderSnippet() {
  const { value: name, selectedOptions: [option] } = calculatorSelect;
  codeField.value = embedSnippet({ name, title: option.textContent ?? name, height, scheme: schemeSelect.value });
}

function renderPreview() {
  const source = /src="([^"]*)"/.exec(codeField.value)?.[1].replace(/&amp;/g, "&") ?? "";
  frame ??= preview.appendChild(document.createElement("iframe"));
  frame.title = calculatorSelect.selectedOptions[0].textContent ?? "";
  frame.src = source;
}

addEventListener("message", ({ data, source }) => {
  if (!frame || source !== frame.contentWindow || !Number.isFinite(data?.wallclockHeight)) return;
  height = data.wallclockHeight;
  frame.style.height = `${data.wallclockHeight}px`;
  renderSnippet();
});
for (const control of [calculatorSelect, schemeSelect]) {
  control.disabled = false;
  control.addEventListener("change", () => {
    renderSnippet();
    renderPreview();
  });
}
copyButton.disabled = false;
copyButton.addEventListener("click", () => copyText(copyButton, codeField.value));
renderSnippet();
renderPreview();
