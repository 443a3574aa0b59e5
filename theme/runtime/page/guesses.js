/** Guesses before an answer: what compares them is fetched when somebody begins one. */

import { all, target } from "./dom.js";

/** Guesses are remembered for this visit. @param {string | undefined} id @param {string} [guess] a new one */
export function remembered(id, guess) {
  const key = `wallclock.guess.${location.pathname}.${id}`;
  try {
    if (guess !== undefined) sessionStorage.setItem(key, guess);
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

export function listenForGuesses() {
  for (const block of all("[data-predict]")) {
    const script = () => import("./predict.js"), begin = async () => (await script()).told(block);
    block.classList.add("ready");
    for (const sign of ["pointerover", "focusin"]) block.addEventListener(sign, begin, { once: true, passive: true });
    block.addEventListener("input", async () => (await script()).show(block));
    block.addEventListener("click", async (event) => {
      const button = target(event, "[data-reveal], [data-skip]");
      if (button) (await script()).reveal(block, button.matches("[data-reveal]"));
    });
    block.addEventListener("keydown", async (event) => {
      if (event.key === "Enter" && target(event, "[data-guess-slider]")) (await script()).reveal(block, true);
    });
    const before = remembered(block.dataset.predict);
    if (before !== null) script().then(({ restore }) => restore(block, before));
  }
}
