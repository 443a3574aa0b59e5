/** Enabling of the controls that need a script. */

/** Enables every control of the page; without this script they are plain numbers. */
export function enableControls() {
  for (const field of document.querySelectorAll(".field, .inline-field")) {
    const control = /** @type {HTMLInputElement | null} */ (field.querySelector("[name]"));
    if (control) nameField(control, field);
    describeField(field);
  }
  for (const number of document.querySelectorAll("a.number:not(.fixed)")) {
    nameNumber(/** @type {HTMLAnchorElement} */ (number));
  }
  const deferredControls = "[data-undo], [data-reset], [data-restore], [data-player] .controls *";
  for (const element of document.querySelectorAll("[data-of][readonly]")) {
    element.removeAttribute("readonly");
  }
  // What has only a few of its options waits for the others.
  const disabledControls = "button:disabled, input:disabled, textarea:disabled, select:disabled:not([data-more])";
  for (const element of document.querySelectorAll(disabledControls)) {
    if (!element.matches(deferredControls)) element.removeAttribute("disabled");
  }
}

/** Links an input to its hint for screen readers. @param {Element} field */
function describeField(field) {
  const control = field.querySelector("[id]"), hint = field.querySelector(".hint");
  if (!control || !hint) return;
  hint.id = `${control.id}-hint`;
  control.setAttribute("aria-describedby", hint.id);
}

/** Sets the name of an input on its field and slider. @param {HTMLInputElement} control @param {Element} field */
function nameField({ name, dataset: { of } }, field) {
  Object.assign(/** @type {HTMLElement} */ (field).dataset, { field: name, of });
  const slider = /** @type {HTMLElement | null} */ (field.querySelector(".slider"));
  if (!slider) return;
  Object.assign(slider.dataset, { slide: name, of });
  slider.removeAttribute("inert");
}

/** Sets the output's name on a number, taken from its receipt link, and on its note. @param {HTMLAnchorElement} number */
function nameNumber({ hash, dataset, parentElement }) {
  const [, of, output] = hash.split("-"); // #receipt-CALCULATOR-OUTPUT
  Object.assign(dataset, { of, output });
  const note = /** @type {HTMLElement | null | undefined} */ (parentElement?.querySelector(":scope > span.note"));
  if (note) Object.assign(note.dataset, { of, note: output });
}
