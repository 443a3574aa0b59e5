/**
 * Answers before Python has come: the engine's own replies to some steps of each number that can be dragged
 * on the home page, made by the build. A step without one takes the next that has.
 */

const root = new URL(document.body.dataset.root ?? "./", location.href);

/** @typedef {[number, string, any]} Row steps from the default, the value there, the reply */
/** @typedef {{inputs: Record<string, Row[]>, outputs: string[]}} Answers */

/** @type {Promise<Record<string, Answers>> | undefined} */
let table;

/** @returns {Promise<Record<string, Answers>>} */
function loadTable() {
  table ??= fetch(new URL("early.json", root)).then((reply) => (reply.ok ? reply.json() : {})).catch(() => ({}));
  return table;
}

/**
 * @param {string} name of a calculator
 * @param {string} text of a request
 * @returns {Promise<string | null>} the reply, or null where there is none
 */
export async function earlyAnswer(name, text) {
  const { inputs, outputs } = (await loadTable())[name] ?? {};
  const { values, typed, slide, nudge, display, want, only, rest, fallback } = JSON.parse(text);
  const isMore = [typed, slide, ...Object.values(want ?? {})].some((part) => Object.keys(part ?? {}).length);
  const isShownOtherwise = Object.values(display ?? {}).some(Boolean);
  if (!inputs || isMore || isShownOtherwise || rest || fallback || only?.some((/** @type {string} */ output) => !outputs.includes(output))) return null;
  const changed = [...new Set([...Object.keys(values ?? {}), ...Object.keys(nudge ?? {})])];
  const rows = inputs[changed[0] ?? Object.keys(inputs)[0]];
  if (changed.length > 1 || !rows) return null;
  const value = values?.[changed[0]], steps = nudge?.[changed[0]] ?? 0;
  const start = rows.find((row) => (value === undefined ? row[0] === 0 : row[1] === value));
  const found = start && rowAt(rows, start[0] + steps, steps);
  return found ? JSON.stringify(found[2]) : null;
}

/** The row of a number of steps, or the next one in the direction of the change. @param {Row[]} rows @returns {Row | undefined} */
function rowAt(rows, steps, direction) {
  return direction < 0 ? rows.findLast((row) => row[0] <= steps) : rows.find((row) => row[0] >= steps);
}
