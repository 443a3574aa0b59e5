/**
 * Page state in the URL: `?calculator.input=value`, SI, only what was changed; of a state that is kept
 * to compare with, `A.calculator.input=value`, or `A.calculator=` where nothing was changed.
 */

const WRITE_DELAY = 250; // a drag writes when it rests: some browsers refuse a hundred writes in 30 s
const WRITE_INTERVAL = 1000; // after this long a change is written at once, so that a reload keeps it
const KEPT_KEY = /^A\.([a-z][a-z0-9_]*)(?:\.([a-z][a-z0-9_]*))?$/;
const INPUT_KEY = /^([a-z][a-z0-9_]*)\.([a-z][a-z0-9_]*)$/;

/**
 * @param {string[]} calculators the names on this page
 * @param {string[]} settings the names of the page-wide switches
 */
export function createAddress(calculators, settings) {
  /** @type {Record<string, [string, string][]>} query of each calculator */
  const queries = {};
  /** Kept states. @type {Record<string, [string, string][]>} */
  const kept = {};
  /** @type {Record<string, string>} */
  let switches = {};
  let timer = 0;
  let lastWrite = -WRITE_INTERVAL;

  const initialPairs = [...new URLSearchParams(location.search)];
  const isKeptKey = (/** @type {string} */ key) => calculators.includes(KEPT_KEY.exec(key)?.[1] ?? "");
  const isOwnKey = (/** @type {string} */ key) => settings.includes(key) || INPUT_KEY.test(key) || isKeptKey(key);
  const foreignPairs = initialPairs.filter(([key]) => !isOwnKey(key));

  function buildQuery() {
    const pairs = [...foreignPairs, ...Object.entries(switches), ...[queries, kept].flatMap((each) => Object.values(each).flat())];
    // A colon, a comma and a slash are fine in a query and easier to read as they are.
    const text = new URLSearchParams(pairs).toString();
    return text ? `?${text}` : "";
  }

  // Until a calculator has answered, what the address gave for it stands.
  for (const name of calculators) {
    queries[name] = initialPairs.filter(([key]) => INPUT_KEY.exec(key)?.[1] === name);
    kept[name] = initialPairs.filter(([key]) => KEPT_KEY.exec(key)?.[1] === name);
  }

  function write() {
    const nextUrl = location.pathname + buildQuery() + location.hash;
    if (nextUrl === location.pathname + location.search + location.hash) return;
    history.replaceState(history.state, "", nextUrl);
    lastWrite = performance.now();
  }

  function scheduleWrite() {
    clearTimeout(timer);
    if (performance.now() - lastWrite > WRITE_INTERVAL) write();
    else timer = setTimeout(write, WRITE_DELAY);
  }

  return {
    /** @returns {Record<string, Record<string, string>>} calculator -> input -> SI text */
    values() {
      /** @type {Record<string, Record<string, string>>} */
      const values = {};
      for (const [key, value] of initialPairs) {
        const match = INPUT_KEY.exec(key);
        if (match && calculators.includes(match[1])) {
          values[match[1]] = { ...values[match[1]], [match[2]]: value };
        }
      }
      return values;
    },
    /** @returns {Record<string, Record<string, string>>} calculator -> inputs of its kept state */
    kept() {
      const states = Object.entries(kept).filter(([, pairs]) => pairs.length);
      return Object.fromEntries(states.map(([name, pairs]) => [name, Object.fromEntries(
        pairs.flatMap(([key, value]) => (KEPT_KEY.exec(key)?.[2] ? [[KEPT_KEY.exec(key)?.[2], value]] : [])))]));
    },
    /** @param {string} calculator @param {[string, string][] | null} inputs null to keep none */
    setKept(calculator, inputs) {
      const pairs = (inputs ?? []).map(([input, value]) => /** @type {[string, string]} */ ([`A.${calculator}.${input}`, value]));
      kept[calculator] = inputs && !pairs.length ? [[`A.${calculator}`, ""]] : pairs;
      scheduleWrite();
    },
    /** @returns {{name: string, value: string}[]} keys of no calculator on this page */
    unknownKeys() {
      return initialPairs
        .filter(([key]) => INPUT_KEY.test(key) && !calculators.includes(INPUT_KEY.exec(key)?.[1] ?? ""))
        .map(([name, value]) => ({ name, value }));
    },
    /** @returns {string[]} keys that occur more than once */
    duplicates() {
      const keys = initialPairs.map(([key]) => key).filter(isOwnKey);
      return [...new Set(keys.filter((key, i) => keys.indexOf(key) !== i))];
    },
    /** @returns {Record<string, string>} */
    settings() {
      return Object.fromEntries(initialPairs.filter(([key]) => settings.includes(key)));
    },
    /** @param {string} calculator @param {[string, string][]} pairs */
    setCalculator(calculator, pairs) {
      // Slices of a search change nothing here, and must not put off what has changed.
      if (JSON.stringify(queries[calculator]) === JSON.stringify(pairs)) return;
      queries[calculator] = pairs;
      scheduleWrite();
    },
    /** @param {Record<string, string>} chosen */
    setSettings(chosen) {
      switches = chosen;
      scheduleWrite();
    },
    /** @returns {string} URL of the page's current state */
    permalink() {
      return location.origin + location.pathname + buildQuery() + location.hash;
    },
  };
}
