/** What the reader chose, kept on this device; storage may be forbidden. */

export const KEY = "wallclock.";

/** @param {string} name @returns {string | null} */
export function kept(name) {
  try {
    return localStorage.getItem(KEY + name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value nothing is kept of an empty one */
export function keep(name, value) {
  try {
    if (value) localStorage.setItem(KEY + name, value);
    else localStorage.removeItem(KEY + name);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
