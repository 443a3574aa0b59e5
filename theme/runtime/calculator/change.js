/**
 * A pending change of inputs. Later changes of an input replace earlier ones, except
 * that steps add up.
 *
 * @typedef {Record<string, string>} Values  input -> SI text
 * @typedef {{
 *   base?: Values,
 *   typed: Record<string, string>, values: Values,
 *   slide: Record<string, number>, nudge: Record<string, number>,
 * }} Change
 */

const CHANGE_KINDS = /** @type {const} */ (["typed", "values", "slide", "nudge"]);

/** @returns {Change} */
export function emptyChange() {
  return { typed: {}, values: {}, slide: {}, nudge: {} };
}

/**
 * @param {Change} earlier
 * @param {Partial<Change>} later
 * @returns {Change} both, the later one winning
 */
export function mergeChanges(earlier, later) {
  if (later.base) return { ...emptyChange(), ...later };
  const merged = structuredClone(earlier);
  for (const kind of CHANGE_KINDS) {
    for (const [name, value] of Object.entries(later[kind] ?? {})) {
      if (kind === "nudge") {
        merged.nudge[name] = (merged.nudge[name] ?? 0) + value;
        continue;
      }
      for (const other of CHANGE_KINDS) delete merged[other][name];
      merged[kind][name] = value;
    }
  }
  return merged;
}

/** @param {Change} change @returns {string[]} names of the changed inputs */
export function changedInputs(change) {
  return CHANGE_KINDS.flatMap((kind) => Object.keys(change[kind]));
}
