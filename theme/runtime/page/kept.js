/**
 * What the reader chose, kept on this device. Where storage is forbidden or full, it is held as long
 * as the page is open, and the page says so once.
 */

import { words } from "./dom.js";
import { notice } from "./status.js";

export const KEY = "wallclock.";

/** What storage refused. @type {Map<string, string | null>} */
const held = new Map();
let said = false;

/** @param {string} name @returns {string | null} */
export function kept(name) {
  const refused = held.get(name);
  if (refused !== undefined) return refused;
  try {
    return localStorage.getItem(KEY + name);
  } catch {
    return null;
  }
}

/**
 * @param {string} name @param {string} value nothing is kept of an empty one
 * @returns {boolean} whether this device keeps it
 */
export function keep(name, value) {
  held.delete(name);
  try {
    if (value) localStorage.setItem(KEY + name, value);
    else localStorage.removeItem(KEY + name);
    return true;
  } catch {
    held.set(name, value || null);
    if (value && !said) notice(words("unkept"));
    said ||= value !== "";
    return false;
  }
}
