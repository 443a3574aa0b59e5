/** What needs a script can be used from now on. */

/** Let every control of the page be used; without this script they are plain numbers. */
export function enable() {
  for (const field of document.querySelectorAll(".field, .inline-field")) {
    const control = /** @type {HTMLInputElement | null} */ (field.querySelector("[name]"));
    if (control) nameField(control, field);
    describe(field);
  }
  for (const number of document.querySelectorAll("a.number:not(.fixed)")) {
    nameNumber(/** @type {HTMLAnchorElement} */ (number));
  }
  const later = "[data-undo], [data-reset], [data-restore], [data-player] .controls *";
  for (const element of document.querySelectorAll("[data-of][readonly]")) {
    element.removeAttribute("readonly");
  }
  // What has only a few of its options waits for the others.
  const controls = "button:disabled, input:disabled, select:disabled:not([data-more])";
  for (const element of document.querySelectorAll(controls)) {
    if (!element.matches(later)) element.removeAttribute("disabled");
  }
}

/** What is said of an input below it is heard with it. @param {Element} field */
function describe(field) {
  const control = field.querySelector("[id]"), hint = field.querySelector(".hint");
  if (!control || !hint) return;
  hint.id = `${control.id}-hint`;
  control.setAttribute("aria-describedby", hint.id);
}

/** What is around an input names it, and so does its slider. @param {HTMLInputElement} control @param {Element} field */
function nameField({ name, dataset: { of } }, field) {
  Object.assign(/** @type {HTMLElement} */ (field).dataset, { field: name, of });
  const slider = /** @type {HTMLElement | null} */ (field.querySelector(".slider"));
  if (slider) Object.assign(slider.dataset, { slide: name, of });
}

/** A number is named by the receipt that it leads to, and so is what is noted behind it. @param {HTMLAnchorElement} number */
function nameNumber({ hash, dataset, parentElement }) {
  const [, of, output] = hash.split("-"); // #receipt-CALCULATOR-OUTPUT
  Object.assign(dataset, { of, output });
  const note = /** @type {HTMLElement | null | undefined} */ (parentElement?.querySelector(":scope > span.note"));
  if (note) Object.assign(note.dataset, { of, note: output });
}
