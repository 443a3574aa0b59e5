/** A timeline whose axis stays while the reader changes a number, with the run before the change as a ghost. */

import { closestTarget } from "../page/dom.js";

/**
 * @param {HTMLElement} figure
 * @param {ReturnType<typeof import("./player.js").createTimelinePlayer>} player
 * @param {any} builtView the view that the page was built with
 */
export function holdWhileChanged(figure, player, builtView) {
  const ownInput = `input[data-of="${figure.dataset.of}"]`;
  let isPressed = document.documentElement.classList.contains("dragging");
  player.hold(builtView); // a finger may have begun before all this was loaded
  if (!isPressed) player.release();
  document.addEventListener("pointerdown", (event) => {
    isPressed = closestTarget(event, ownInput) !== null;
    if (isPressed) player.hold();
  }, true);
  document.addEventListener("focusin", (event) => {
    if (isPressed || !closestTarget(event, ownInput)) return;
    player.hold();
    player.release(); // a key changes by one step, and the axis may follow
  });
  for (const kind of ["pointerup", "pointercancel"]) {
    document.addEventListener(kind, () => {
      isPressed = false;
      player.release();
    });
  }
}
