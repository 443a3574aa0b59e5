/** Rendering of inputs from the engine's reply: texts, sliders, switches, error messages. */

import { setAttribute, elementsOf, setProperty } from "../page/dom.js";
import { fitWidth } from "../page/autosize.js";
import { storeText } from "./stored_texts.js";

/** Input -> box it was typed in last, whose text stays while it is invalid. @type {Map<string, Element>} */
const lastTypedBox = new Map();
/** Focused boxes whose text may be replaced all the same: after Enter, an arrow key, a drag. */
const acceptedBoxes = new WeakSet();
/** The slider being dragged. @type {Element | null} */
let heldSlider = null;

/** @param {HTMLInputElement} box */
export function markTyped(box) {
  lastTypedBox.set(inputKey(box.dataset.of ?? "", box.name), box);
  acceptedBoxes.delete(box);
}

/** @param {Element} box */
export function acceptText(box) {
  acceptedBoxes.add(box);
}

/** @param {Element | null} slider */
export function holdSlider(slider) {
  heldSlider = slider;
}

/**
 * @param {string} calculator
 * @param {string} name
 * @param {{value: string, text: string, position: number | null, changed: boolean,
 *   error: string | null}} input
 * @param {string | undefined} typedText the reader's text while it is invalid
 * @param {{any: boolean, typed: boolean}} pending whether another change of it is pending
 */
export function renderField(calculator, name, input, typedText, pending) {
  const isBad = typedText !== undefined;
  const typedBox = lastTypedBox.get(inputKey(calculator, name));
  for (const control of elementsOf(calculator, `[name="${name}"]`)) {
    if (control instanceof HTMLTextAreaElement) renderText(control, input, typedText, pending.any);
    else renderControl(/** @type {any} */ (control), input, control === typedBox && (isBad || pending.typed));
    setAttribute(control, "aria-invalid", String(isBad));
  }
  for (const slider of elementsOf(calculator, `[data-slide="${name}"]`)) {
    if (slider !== heldSlider) setProperty(slider, "value", String(Math.round((input.position ?? 0) * 1000)));
    if (slider.hasAttribute("aria-valuetext")) setAttribute(slider, "aria-valuetext", input.text);
  }
  const messages = elementsOf(calculator, `[data-error="${name}"]`);
  // A bad value of the address has no box that it was typed in: the first number tells.
  const errorTarget = !typedBox && messages.every(inlineField) ? messages[0] : null;
  for (const message of messages) {
    const inline = inlineField(message);
    renderMessage(message, !inline || message === errorTarget || inline.contains(typedBox ?? null) ? input.error : null);
  }
}

/** @param {string} calculator @param {string} name */
function inputKey(calculator, name) {
  return `${calculator} ${name}`;
}

/**
 * @param {HTMLInputElement & HTMLSelectElement} control
 * @param {{value: string, text: string}} input
 * @param {boolean} isTypedText whether the typed text is invalid or pending
 */
function renderControl(control, input, isTypedText) {
  if (control.type === "checkbox") {
    setProperty(control, "checked", input.value === "on");
  } else if (control.tagName === "SELECT") {
    setProperty(control, "value", input.value);
    fitWidth(control);
  } else {
    const isBeingEdited = document.activeElement === control && !acceptedBoxes.has(control);
    if (isBeingEdited || isTypedText) return;
    setProperty(control, "value", input.text);
    fitBox(control);
  }
}

/** Renders a text area; an invalid or pending text stays. */
function renderText(control, input, typedText, isPending) {
  if (isPending) return;
  if (document.activeElement !== control) setProperty(control, "value", typedText ?? input.text);
  storeText(control, typedText !== undefined || input.changed);
}

/** An inline number is as wide as its text. @param {HTMLInputElement} control */
export function fitBox(control) {
  if (!control.classList.contains("drag")) return;
  setProperty(control, "size", Math.max(1, control.value.length));
  fitWidth(control);
}

/**
 * A number in a sentence does not shrink while it is typed: the words after it stay where they are.
 * @param {HTMLInputElement} control
 * @param {boolean} isFrozen
 */
export function freezeWidth(control, isFrozen) {
  if (!control.classList.contains("drag")) return;
  control.style.minWidth = isFrozen ? `${control.getBoundingClientRect().width}px` : "";
}

function inlineField(message) {
  return message.closest(".inline-field");
}

/** Inside a sentence only the number that was typed there carries its message. */
function renderMessage(message, error) {
  setProperty(message, "hidden", error === null);
  setProperty(message, "textContent", error ?? "");
}
