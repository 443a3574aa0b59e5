/** Gives the page what only a live one has: styles, sentences, messages of its inputs, ways to copy. */

import { all } from "./dom.js";

/** @param {URL} address of the box that holds it */
export async function furnish(address) {
  const text = await fetch(address).then((reply) => (reply.ok ? reply.text() : "")).catch(() => "");
  const found = new DOMParser().parseFromString(text, "text/html");
  document.body.append(...found.querySelectorAll("style, template, [data-wrong]"));
  for (const field of all("[data-field]")) giveMessage(field);
  for (const note of all("[data-note]")) giveOther(note);
  const retry = document.querySelector("[data-notice] [data-retry]");
  for (const line of retry ? all("[data-status]") : []) line.append(" ", /** @type {Element} */ (retry).cloneNode(true));
  const copies = /** @type {HTMLTemplateElement | null} */ (document.querySelector("[data-copies]"));
  for (const menu of all(".copy-as")) {
    const made = /** @type {DocumentFragment} */ (copies?.content.cloneNode(true) ?? new DocumentFragment());
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (made.querySelectorAll("button"))) {
      button.dataset.of = menu.dataset.of;
    }
    menu.querySelector("span")?.replaceChildren(made);
  }
}

/** A place for the number in the other units. @param {HTMLElement} note */
function giveOther(note) {
  if (note.previousElementSibling?.matches(".also")) return;
  const other = document.createElement("span");
  other.className = "also";
  Object.assign(other.dataset, { of: note.dataset.of, also: note.dataset.note });
  note.before(other);
}

/** A place for what is wrong with the input. @param {HTMLElement} field */
function giveMessage(field) {
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
