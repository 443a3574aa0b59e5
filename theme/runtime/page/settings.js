/** Page-wide switches `[data-setting]`: in the URL and in local storage. */

import { queryAll } from "./dom.js";
import { STORAGE_PREFIX, writeStorage, readStorage } from "./storage.js";

/** @returns {string[]} */
export function settingNames() {
  return [...new Set(settingBoxes().map((box) => box.dataset.setting ?? ""))];
}

function settingBoxes() {
  return /** @type {HTMLInputElement[]} */ (queryAll("input[data-setting]"));
}

/**
 * @param {ReturnType<typeof import("./address.js").createAddress>} address
 * @param {() => void} onChange
 */
export function createSettings(address, onChange) {
  const addressSettings = address.settings();
  for (const box of settingBoxes()) {
    const name = box.dataset.setting ?? "";
    box.checked = (addressSettings[name] ?? readStorage(name)) === "on";
    box.disabled = false;
    box.addEventListener("change", () => {
      for (const other of settingBoxes()) if (other.dataset.setting === name) other.checked = box.checked;
      writeStorage(name, box.checked ? "on" : "");
      publish();
      onChange();
    });
  }

  function display() {
    return Object.fromEntries(settingBoxes().map((box) => [box.dataset.setting ?? "", box.checked]));
  }

  function publish() {
    const on = Object.entries(display()).filter(([, checked]) => checked);
    address.setSettings(Object.fromEntries(on.map(([name]) => [name, "on"])));
  }

  // Another tab of this site has switched.
  addEventListener("storage", ({ key, newValue }) => {
    const changed = settingBoxes().filter((box) => key === STORAGE_PREFIX + box.dataset.setting);
    if (!changed.length) return;
    for (const box of changed) box.checked = newValue === "on";
    publish();
    onChange();
  });

  publish();
  return {
    display,
    get anyOn() {
      return settingBoxes().some((box) => box.checked);
    },
  };
}
