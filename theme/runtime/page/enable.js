/** What needs a script can be used from now on. */

/** Let every control of the page be used; without this script they are plain numbers. */
export function enable() {
  const later = "[data-undo], [data-reset], [data-restore], [data-player] .controls *";
  for (const element of document.querySelectorAll("[data-of][readonly]")) {
    element.removeAttribute("readonly");
  }
  const controls = "button:disabled, input:disabled, select:disabled";
  for (const element of document.querySelectorAll(controls)) {
    if (!element.matches(later)) element.removeAttribute("disabled");
  }
}
