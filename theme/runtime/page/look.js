/** Light or dark, and the size of the text: the reader's choice, kept on this device. */

import { all } from "./dom.js";
import { KEY, keep, kept } from "./kept.js";

/** Lets the choices of the panel be made; the page wears them already (see early.js). */
export function startLook() {
  const choices = /** @type {HTMLInputElement[]} */ (all("input[data-look]"));
  for (const choice of choices) {
    choice.checked = (kept(choice.name) ?? "") === choice.value;
    choice.addEventListener("change", () => {
      keep(choice.name, choice.value);
      const chosen = choices.filter(({ checked }) => checked).map(({ name, value }) => [name, value]);
      dispatchEvent(new CustomEvent("look", { detail: Object.fromEntries(chosen) }));
    });
  }
  addEventListener("storage", ({ key, newValue }) => {
    for (const choice of choices) {
      if (key === KEY + choice.name) choice.checked = (newValue ?? "") === choice.value;
    }
  });
}
