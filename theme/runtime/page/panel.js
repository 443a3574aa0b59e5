/** Panels (dialogs), each loaded with its script when opened. */

import { uiString } from "./dom.js";
import { showNotice } from "./status.js";

const SCRIPTS = {
  compare: () => import("./compare.js"),
  dock: () => import("./dock.js"),
  search: () => import("./search.js"),
  keys: () => import("./keys.js"),
  states: () => import("./states.js"),
  paste: () => import("./paste.js"),
};

/** @param {string} name @param {any} [calculator] that it was opened for, or the input @param {any} [page] all calculators */
export async function openPanel(name, calculator, page) {
  try {
    if (!document.querySelector(`[data-panel="${name}"]`)) await loadPanel(name);
    (await SCRIPTS[name]()).open(calculator, page);
  } catch (error) {
    console.warn(error);
    showNotice(uiString("unopened"));
  }
}

/** @param {string} name */
async function loadPanel(name) {
  const response = await fetch(new URL(`../panels/${name}.html`, import.meta.url));
  if (!response.ok) throw new Error(`${response.status} for ${response.url}`);
  const panel = new DOMParser().parseFromString(await response.text(), "text/html");
  document.body.append(...panel.head.children, ...panel.body.children);
}
