/** The page-wide switches `[data-setting]`: in the address, and kept on this device. */

import { all } from "./dom.js";
import { KEY, keep, kept } from "./kept.js";

/** @returns {string[]} */
export function settingNames() {
  return [...new Set(boxes().map((box) => box.dataset.setting ?? ""))];
}

function boxes() {
  return /** @type {HTMLInputElement[]} */ (all("input[data-setting]"));
}

/**
 * @param {ReturnType<typeof import("./address.js").createAddress>} address
 * @param {() => void} onChange
 */
export function createSettings(address, onChange) {
  const given = address.settings();
  for (const box of boxes()) {
    const name = box.dataset.setting ?? "";
    box.checked = (given[name] ?? kept(name)) === "on";
    box.disabled = false;
    box.addEventListener("change", () => {
      for (const other of boxes()) if (other.dataset.setting === name) other.checked = box.checked;
      keep(name, box.checked ? "on" : "");
      publish();
      onChange();
    });
  }

  function display() {
    return Object.fromEntries(boxes().map((box) => [box.dataset.setting ?? "", box.checked]));
  }

  function publish() {
    const on = Object.entries(display()).filter(([, checked]) => checked);
    address.putSettings(Object.fromEntries(on.map(([name]) => [name, "on"])));
  }

  // Another tab of this site has switched.
  addEventListener("storage", ({ key, newValue }) => {
    const changed = boxes().filter((box) => key === KEY + box.dataset.setting);
    if (!changed.length) return;
    for (const box of changed) box.checked = newValue === "on";
    publish();
    onChange();
  });

  publish();
  return {
    display,
    get anyOn() {
      return boxes().some((box) => box.checked);
    },
  };
}
