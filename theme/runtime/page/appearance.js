/** Appearance settings: color scheme and text size, kept in local storage. */

import { queryAll } from "./dom.js";
import { STORAGE_PREFIX, writeStorage, readStorage } from "./storage.js";

/** Listens to the appearance panel; early.js has applied the stored choice. */
export function listenForAppearance() {
  const choices = /** @type {HTMLInputElement[]} */ (queryAll("input[data-look]"));
  for (const choice of choices) {
    choice.checked = (readStorage(choice.name) ?? "") === choice.value;
    choice.addEventListener("change", () => {
      writeStorage(choice.name, choice.value);
      const chosen = choices.filter(({ checked }) => checked).map(({ name, value }) => [name, value]);
      dispatchEvent(new CustomEvent("look", { detail: Object.fromEntries(chosen) }));
    });
  }
  addEventListener("storage", ({ key, newValue }) => {
    for (const choice of choices) {
      if (key === STORAGE_PREFIX + choice.name) choice.checked = (newValue ?? "") === choice.value;
    }
  });
}
