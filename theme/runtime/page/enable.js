/** What needs a script can be used from now on. */

/** Let every control of the page be used; without this script they are plain numbers. */
export function enable() {
  for (const field of document.querySelectorAll(".field, .inline-field")) {
    const control = /** @type {HTMLInputElement | null} */ (field.querySelector("[name]"));
    if (control) name(control, field);
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

/** What is around an input names it, and so does its slider. @param {HTMLInputElement} control @param {Element} field */
function name({ name, dataset: { of } }, field) {
  Object.assign(/** @type {HTMLElement} */ (field).dataset, { field: name, of });
  const slider = /** @type {HTMLElement | null} */ (field.querySelector(".slider"));
  if (slider) Object.assign(slider.dataset, { slide: name, of });
}
