/** The last states of one calculator, for Undo. A drag or a word typed is one step. */

const DEPTH = 20;
const PAUSE = 1000;

export function createHistory() {
  /** @type {import("./change.js").Values[]} */
  const states = [];
  let gesture = "";
  let last = 0;

  return {
    /**
     * Remember the state before a change, unless the same gesture goes on.
     *
     * @param {import("./change.js").Values} before
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
