/** Undo history of one calculator; a drag or a typed word is one step. */

/**
 * @typedef {import("./change.js").Values} Values
 * @typedef {{values: Values, typed: Record<string, string>}} State  what was set, and texts of
 *   several lines that could not be read
 */

const MAX_STEPS = 20;
const GESTURE_PAUSE = 1000;

export function createHistory() {
  /** @type {State[]} */
  const states = [];
  let gesture = "";
  let lastTime = 0;

  return {
    /**
     * Remember the state before a change, unless the same gesture goes on.
     *
     * @param {State} previous
     * @param {string} name what is being changed
     * @param {number} now milliseconds
     */
    push(previous, name, now) {
      const isSameGesture = name !== "" && name === gesture && now - lastTime < GESTURE_PAUSE;
      gesture = name;
      lastTime = now;
      if (isSameGesture) return;
      states.push(previous);
      if (states.length > MAX_STEPS) states.shift();
    },
    pop() {
      gesture = "";
      return states.pop() ?? null;
    },
    get empty() {
      return states.length === 0;
    },
  };
}
