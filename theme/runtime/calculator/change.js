/**
 * A change of inputs that waits to be sent. Later changes of an input replace earlier ones, except
 * that steps add up.
 *
 * @typedef {Record<string, string>} Values  input -> SI text
 * @typedef {{
 *   base?: Values,
 *   typed: Record<string, string>, values: Values,
 *   slide: Record<string, number>, nudge: Record<string, number>,
 * }} Change
 */

const KINDS = /** @type {const} */ (["typed", "values", "slide", "nudge"]);

/** @returns {Change} */
export function noChange() {
  return { typed: {}, values: {}, slide: {}, nudge: {} };
}

/**
 * @param {Change} earlier
 * @param {Partial<Change>} later
 * @returns {Change} both, the later one winning
 */
export function merged(earlier, later) {
  if (later.base) return { ...noChange(), ...later };
  const result = structuredClone(earlier);
  for (const kind of KINDS) {
    for (const [name, value] of Object.entries(later[kind] ?? {})) {
      if (kind === "nudge") {
        result.nudge[name] = (result.nudge[name] ?? 0) + value;
        continue;
      }
      for (const other of KINDS) delete result[other][name];
      result[kind][name] = value;
    }
  }
  return result;
}

/** @param {Change} change @returns {string[]} the inputs it touches */
export function touched(change) {
  return KINDS.flatMap((kind) => Object.keys(change[kind]));
}
