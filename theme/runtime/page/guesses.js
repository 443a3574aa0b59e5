/** Guess blocks: listeners, and the guess stored for this visit; predict.js is loaded on first use. */

import { queryAll, closestTarget } from "./dom.js";

/** Returns the guess stored for this visit, after storing a new one if given. @param {string | undefined} id @param {string} [guess] a new one */
export function storedGuess(id, guess) {
  const key = `wallclock.guess.${location.pathname}.${id}`;
  try {
    if (guess !== undefined) sessionStorage.setItem(key, guess);
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

export function listenForGuesses() {
  for (const block of queryAll("[data-predict]")) {
    const loadScript = () => import("./predict.js"), preload = async () => (await loadScript()).loadStops(block);
    block.classList.add("ready");
    for (const eventType of ["pointerover", "focusin"])
      block.addEventListener(eventType, preload, { once: true, passive: true });
    block.addEventListener("input", async () => (await loadScript()).renderGuess(block));
    block.addEventListener("click", async (event) => {
      const button = closestTarget(event, "[data-reveal], [data-skip]");
      if (button) (await loadScript()).reveal(block, button.matches("[data-reveal]"));
    });
    block.addEventListener("keydown", async (event) => {
      if (event.key === "Enter" && closestTarget(event, "[data-guess-slider]")) (await loadScript()).reveal(block, true);
    });
    const earlier = storedGuess(block.dataset.predict);
    if (earlier !== null) loadScript().then(({ restoreGuess }) => restoreGuess(block, earlier));
  }
}
