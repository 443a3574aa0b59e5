/**
 * Local storage of the reader's choices. Where storage is forbidden or full, values live as long as the
 * page is open, and a notice says so once.
 */

import { uiString } from "./dom.js";
import { showNotice } from "./status.js";

export const STORAGE_PREFIX = "wallclock.";

/** Values that storage refused. @type {Map<string, string | null>} */
const unsaved = new Map();
let warned = false;

/** @param {string} name @returns {string | null} */
export function readStorage(name) {
  const value = unsaved.get(name);
  if (value !== undefined) return value;
  try {
    return localStorage.getItem(STORAGE_PREFIX + name);
  } catch {
    return null;
  }
}

/**
 * @param {string} name @param {string} value an empty one removes the key
 * @param {boolean} [isQuiet] nobody asked for it, so nobody is told that it could not be stored
 * @returns {boolean} whether it was stored
 */
export function writeStorage(name, value, isQuiet = false) {
  unsaved.delete(name);
  try {
    if (value) localStorage.setItem(STORAGE_PREFIX + name, value);
    else localStorage.removeItem(STORAGE_PREFIX + name);
    return true;
  } catch {
    unsaved.set(name, value || null);
    if (value && !warned && !isQuiet) showNotice(uiString("unkept"));
    warned ||= value !== "" && !isQuiet;
    return false;
  }
}
