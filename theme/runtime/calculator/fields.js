/** The inputs follow the engine's reply: texts, sliders, switches, messages. */

import { attribute, partsOf, write } from "../page/dom.js";
import { narrow } from "../page/narrow.js";
import { keepText } from "./texts.js";

/** Input -> the box a reader typed it in last; its text is theirs while it is wrong. @type {Map<string, Element>} */
const typedIn = new Map();
/** Focused boxes whose text may be replaced all the same: after Enter, an arrow key, a drag. */
const accepted = new WeakSet();
/** The slider under the reader's hand. @type {Element | null} */
let held = null;

/** @param {HTMLInputElement} box */
export function typing(box) {
  typedIn.set(inputOf(box.dataset.of ?? "", box.name), box);
  accepted.delete(box);
}

/** @param {Element} box */
export function accept(box) {
  accepted.add(box);
}

/** @param {Element | null} slider */
export function hold(slider) {
  held = slider;
}

/**
 * @param {string} calculator
 * @param {string} name
 * @param {{value: string, text: string, position: number | null, changed: boolean,
 *   error: string | null}} input
 * @param {string | undefined} own what the reader gave, while it is wrong: it stays
 * @param {{any: boolean, typed: boolean}} waits another change of it is still on its way
 */
export function showField(calculator, name, input, own, waits) {
  const isBad = own !== undefined;
  const box = typedIn.get(inputOf(calculator, name));
  for (const control of partsOf(calculator, `[name="${name}"]`)) {
    if (control instanceof HTMLTextAreaElement) showText(control, input, own, waits.any);
    else showControl(/** @type {any} */ (control), input, control === box && (isBad || waits.typed));
    attribute(control, "aria-invalid", String(isBad));
  }
  for (const slider of partsOf(calculator, `[data-slide="${name}"]`)) {
    if (slider !== held) write(slider, "value", String(Math.round((input.position ?? 0) * 1000)));
    if (slider.hasAttribute("aria-valuetext")) attribute(slider, "aria-valuetext", input.text);
  }
  const messages = partsOf(calculator, `[data-error="${name}"]`);
  // A bad value of the address has no box that it was typed in: the first number tells.
  const teller = !box && messages.every(inlineOf) ? messages[0] : null;
  for (const message of messages) {
    const inline = inlineOf(message);
    showMessage(message, !inline || message === teller || inline.contains(box ?? null) ? input.error : null);
  }
}

/** @param {string} calculator @param {string} name */
function inputOf(calculator, name) {
  return `${calculator} ${name}`;
}

/**
 * @param {HTMLInputElement & HTMLSelectElement} control
 * @param {{value: string, text: string}} input
 * @param {boolean} isTheirs what was typed is wrong, or has not been read yet
 */
function showControl(control, input, isTheirs) {
  if (control.type === "checkbox") {
    write(control, "checked", input.value === "on");
  } else if (control.tagName === "SELECT") {
    write(control, "value", input.value);
    narrow(control);
  } else {
    const theirs = document.activeElement === control && !accepted.has(control);
    if (theirs || isTheirs) return;
    write(control, "value", input.text);
    fit(control);
  }
}

/** A text that could not be read, or has not been read yet, stays as it is. */
function showText(control, input, own, waits) {
  if (waits) return;
  if (document.activeElement !== control) write(control, "value", own ?? input.text);
  keepText(control, own !== undefined || input.changed);
}

/** An inline number is as wide as its text. @param {HTMLInputElement} control */
export function fit(control) {
  if (!control.classList.contains("drag")) return;
  write(control, "size", Math.max(1, control.value.length));
  narrow(control);
}

/**
 * A number in a sentence does not shrink while it is typed: the words after it stay where they are.
 * @param {HTMLInputElement} control
 * @param {boolean} keeps
 */
export function keepWidth(control, keeps) {
  if (!control.classList.contains("drag")) return;
  control.style.minWidth = keeps ? `${control.getBoundingClientRect().width}px` : "";
}

function inlineOf(message) {
  return message.closest(".inline-field");
}

/** Inside a sentence only the number that was typed there carries its message. */
function showMessage(message, error) {
  write(message, "hidden", error === null);
  write(message, "textContent", error ?? "");
}
