/** Light or dark, and the size of the text: the reader's choice, kept on this device. */

import { all } from "./dom.js";

const KEY = "wallclock.";

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

/** @param {string} name */
function kept(name) {
  try {
    return localStorage.getItem(KEY + name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value "" is the system's or the page's own */
function keep(name, value) {
  try {
    if (value) localStorage.setItem(KEY + name, value);
    else localStorage.removeItem(KEY + name);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
