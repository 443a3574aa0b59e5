/** The last states of one calculator, for Undo. A drag or a word typed is one step. */

/**
 * @typedef {import("./change.js").Values} Values
 * @typedef {{values: Values, typed: Record<string, string>}} State  what was set, and texts of
 *   several lines that could not be read
 */

const DEPTH = 20;
const PAUSE = 1000;

export function createHistory() {
  /** @type {State[]} */
  const states = [];
  let gesture = "";
  let last = 0;

  return {
    /**
     * Remember the state before a change, unless the same gesture goes on.
     *
     * @param {State} before
     * @param {string} name what is being changed
     * @param {number} now milliseconds
     */
    push(before, name, now) {
      const goesOn = name !== "" && name === gesture && now - last < PAUSE;
      gesture = name;
      last = now;
      if (goesOn) return;
      states.push(before);
      if (states.length > DEPTH) states.shift();
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
