/** Dialog of the keyboard shortcuts. */

const dialog = /** @type {HTMLDialogElement} */ (document.querySelector("[data-panel=keys]"));
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());

/** Opens the dialog. */
export function open() {
  if (!dialog.open) dialog.showModal();
}
