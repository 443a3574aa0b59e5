/** The list of keys. */

const box = /** @type {HTMLDialogElement} */ (document.querySelector("[data-panel=keys]"));
box.addEventListener("click", (event) => event.target === box && box.close());

/** Opens the box. */
export function open() {
  if (!box.open) box.showModal();
}
