/** The page-wide switches `[data-setting]`: in the address, and kept on this device. */

import { all } from "./dom.js";

const KEY = "wallclock.";

/** @returns {string | null} what this device kept; nothing where storage is forbidden */
function kept(name) {
  try {
    return localStorage.getItem(KEY + name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {boolean} on */
function keep(name, on) {
  try {
    if (on) localStorage.setItem(KEY + name, "on");
    else localStorage.removeItem(KEY + name);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

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
      keep(name, box.checked);
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
