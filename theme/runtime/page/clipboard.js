/** Copies a text; where the browser forbids it, shows the text selected so that the reader can. */

import { words } from "./dom.js";

const SHORTLY = 1600;

/**
 * @param {HTMLElement} button what the reader pressed; it says that it worked
 * @param {string} text
 * @returns {Promise<boolean>}
 */
export async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    byHand(button, text);
    return false;
  }
  const before = button.textContent;
  button.textContent = words("copied");
  setTimeout(() => {
    if (button.textContent === words("copied")) button.textContent = before;
  }, SHORTLY);
  return true;
}

/** @param {HTMLElement} button @param {string} text */
function byHand(button, text) {
  const next = button.nextElementSibling;
  const field = next?.matches(".copy-field") ? next : document.createElement("textarea");
  if (!(field instanceof HTMLTextAreaElement)) return;
  field.className = "copy-field";
  field.readOnly = true;
  field.rows = 2;
  field.value = text;
  field.setAttribute("aria-label", words("copy-by-hand"));
  button.after(field);
  field.focus();
  field.select();
}
