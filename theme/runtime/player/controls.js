/** Buttons and keys of a player, the same for a drawing's frames and for the time of a run. */

import { queryAll, setProperty } from "../page/dom.js";

/**
 * @typedef {{toggle: () => void, step: (by: number) => void, seek: (to: number) => void,
 *   setSpeed: (times: number) => void}} Player
 */

/** Returns a function that labels the play button with its next action. @param {HTMLElement} figure */
export function createPlayButton(figure) {
  const play = /** @type {HTMLElement} */ (figure.querySelector("[data-play]"));
  const text = play.textContent;
  return (/** @type {boolean} */ playing) => {
    setProperty(play, "textContent", playing ? play.dataset.pauseText : text);
  };
}

/** @param {HTMLElement} figure @param {Player} player */
export function listenToPlayer(figure, player) {
  for (const play of queryAll("[data-play]", figure)) play.addEventListener("click", player.toggle);
  for (const button of queryAll("[data-step]", figure)) {
    button.addEventListener("click", () => player.step(Number(button.dataset.step)));
  }
  for (const speed of queryAll("[data-speed]", figure)) {
    speed.addEventListener("change", () => player.setSpeed(Number(/** @type {any} */ (speed).value)));
  }
  figure.addEventListener("keydown", (event) => {
    const element = /** @type {Element} */ (event.target);
    const isTaken = event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey;
    if (isTaken || element.matches("select, summary, tr")) return;
    if (event.key === " " && element.matches("button")) return;
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
  for (const control of queryAll(".controls [disabled]", figure)) control.removeAttribute("disabled");
}
