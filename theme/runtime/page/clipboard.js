/** Clipboard: copies a text, or shows it selected where the browser forbids that. */

import { uiString } from "./dom.js";

const CONFIRMATION_TIME = 1600;

/**
 * @param {HTMLElement} button what the reader pressed; it says that it worked
 * @param {string} text
 * @returns {Promise<boolean>}
 */
export async function copyText(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    showSelectedText(button, text);
    return false;
  }
  const label = button.textContent;
  button.textContent = uiString("copied");
  setTimeout(() => {
    if (button.textContent === uiString("copied")) button.textContent = label;
  }, CONFIRMATION_TIME);
  return true;
}

/** @param {HTMLElement} button @param {string} text */
function showSelectedText(button, text) {
  const sibling = button.nextElementSibling;
  const field = sibling?.matches(".copy-field") ? sibling : document.createElement("textarea");
  if (!(field instanceof HTMLTextAreaElement)) return;
  field.className = "copy-field";
  field.readOnly = true;
  field.rows = 2;
  field.value = text;
  field.setAttribute("aria-label", uiString("copy-by-hand"));
  button.after(field);
  field.focus();
  field.select();
}
