/** Hydration of a page: adds what only live calculators need (styles, UI strings, error messages, copy menus). */

import { queryAll } from "./dom.js";

/** @param {URL} address of the HTML fragment */
export async function hydrate(address) {
  const text = await fetch(address).then((reply) => (reply.ok ? reply.text() : "")).catch(() => "");
  const fragment = new DOMParser().parseFromString(text, "text/html");
  document.body.append(...fragment.querySelectorAll("style, template, [data-wrong]"));
  for (const field of queryAll("[data-field]")) addErrorMessage(field);
  for (const note of queryAll("[data-note]")) addAlternativeUnits(note);
  const retry = document.querySelector("[data-notice] [data-retry]");
  for (const statusLine of retry ? queryAll("[data-status]") : [])
    statusLine.append(" ", /** @type {Element} */ (retry).cloneNode(true));
  const copyTemplate = /** @type {HTMLTemplateElement | null} */ (document.querySelector("[data-copies]"));
  for (const menu of queryAll(".copy-as")) {
    const buttons = /** @type {DocumentFragment} */ (copyTemplate?.content.cloneNode(true) ?? new DocumentFragment());
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (buttons.querySelectorAll("button"))) {
      button.dataset.of = menu.dataset.of;
    }
    menu.querySelector("span")?.replaceChildren(buttons);
  }
}

/** Adds an element for the number in other units. @param {HTMLElement} note */
function addAlternativeUnits(note) {
  if (note.previousElementSibling?.matches(".also")) return;
  const alternative = document.createElement("span");
  alternative.className = "also";
  Object.assign(alternative.dataset, { of: note.dataset.of, also: note.dataset.note });
  note.before(alternative);
}

/** Adds an element for the input's error message. @param {HTMLElement} field */
function addErrorMessage(field) {
  const control = field.querySelector("[id][aria-describedby]"), inline = field.matches(".inline-field");
  const message = document.createElement(inline ? "span" : "p");
  message.className = "error";
  message.hidden = true;
  Object.assign(message.dataset, { error: field.dataset.field, of: field.dataset.of });
  if (control) {
    message.id = `${control.id}-error`;
    control.setAttribute("aria-describedby", `${control.getAttribute("aria-describedby")} ${message.id}`);
  }
  field.append(message);
}
