/** The buttons and keys of a player: the same for a drawing's frames and for the time of a run. */

import { all, write } from "../page/dom.js";

/**
 * @typedef {{toggle: () => void, step: (by: number) => void, seek: (to: number) => void,
 *   setSpeed: (times: number) => void}} Player
 */

/** Writes on the button what it does next. @param {HTMLElement} figure */
export function playButton(figure) {
  const play = /** @type {HTMLElement} */ (figure.querySelector("[data-play]"));
  const text = play.textContent;
  return (/** @type {boolean} */ playing) => {
    write(play, "textContent", playing ? play.dataset.pauseText : text);
  };
}

/** @param {HTMLElement} figure @param {Player} player */
export function listenToPlayer(figure, player) {
  for (const play of all("[data-play]", figure)) play.addEventListener("click", player.toggle);
  for (const button of all("[data-step]", figure)) {
    button.addEventListener("click", () => player.step(Number(button.dataset.step)));
  }
  for (const speed of all("[data-speed]", figure)) {
    speed.addEventListener("change", () => player.setSpeed(Number(/** @type {any} */ (speed).value)));
  }
  figure.addEventListener("keydown", (event) => {
    const on = /** @type {Element} */ (event.target);
    const taken = event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey;
    if (taken || on.matches("select, summary, tr")) return;
    if (event.key === " " && on.matches("button")) return;
    const action = {
      " ": player.toggle,
      ArrowLeft: () => player.step(-1),
      ArrowRight: () => player.step(1),
      Home: () => player.seek(-Infinity),
      End: () => player.seek(Infinity),
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  for (const control of all(".controls [disabled]", figure)) control.removeAttribute("disabled");
}
