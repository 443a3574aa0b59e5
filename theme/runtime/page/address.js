/** Page state in the URL: `?calculator.input=value`, SI, only what was changed. */

const WRITE_DELAY = 250; // a drag writes when it rests: some browsers refuse a hundred writes in 30 s
const WRITE_INTERVAL = 1000; // after this long a change is written at once, so that a reload keeps it
const INPUT_KEY = /^([a-z][a-z0-9_]*)\.([a-z][a-z0-9_]*)$/;

/**
 * @param {string[]} calculators the names on this page
 * @param {string[]} settings the names of the page-wide switches
 */
export function createAddress(calculators, settings) {
  /** @type {Record<string, [string, string][]>} query of each calculator */
  const queries = {};
  /** @type {Record<string, string>} */
  let switches = {};
  let timer = 0;
  let lastWrite = -WRITE_INTERVAL;

  const initialPairs = [...new URLSearchParams(location.search)];
  const isOwnKey = (/** @type {string} */ key) => settings.includes(key) || INPUT_KEY.test(key);
  const foreignPairs = initialPairs.filter(([key]) => !isOwnKey(key));

  function buildQuery() {
    const pairs = [...foreignPairs, ...Object.entries(switches), ...Object.values(queries).flat()];
    // A colon, a comma and a slash are fine in a query and easier to read as they are.
    const text = new URLSearchParams(pairs).toString();
    return text ? `?${text}` : "";
  }

  // Until a calculator has answered, what the address gave for it stands.
  for (const name of calculators) {
    queries[name] = initialPairs.filter(([key]) => INPUT_KEY.exec(key)?.[1] === name);
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
