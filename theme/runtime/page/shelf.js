/**
 * The saved states of this device: a list that is checked whenever it is read, from storage or from
 * a file. Where storage is full or forbidden, the list is held as long as the page is open.
 *
 * @typedef {{name: string, calculator: string, title: string, page: string, saved: string,
 *   values: Record<string, string>, texts: string[], job: string}} State  `page` below the home page;
 *   `values` SI; `texts` those of them that are the reader's own and stand in no address; `job` all
 *   inputs that stand for a job, as a query
 */

import { KEY } from "./kept.js";

const PLACE = `${KEY}states`, FORMAT = "wallclock-states";
export const VERSION = 1;
const LONGEST = 60;

/** What storage refused. @type {State[] | null} */
let held = null;

/** @returns {State[]} */
export function states() {
  if (held) return held;
  try {
    return read(localStorage.getItem(PLACE) ?? "").states;
  } catch {
    return [];
  }
}

/** @param {State[]} list @returns {boolean} whether it is kept on this device */
export function put(list) {
  try {
    localStorage.setItem(PLACE, write(list));
    held = null;
    return true;
  } catch {
    held = list;
    return false;
  }
}

/** @param {State[]} list @returns {string} a file of them */
export function write(list) {
  return JSON.stringify({ format: FORMAT, version: VERSION, states: list }, null, 1);
}

/**
 * @param {string} text of a file, or of storage
 * @returns {{states: State[], wrong: number[], version: number}} `wrong`: which entries are damaged,
 *   from 1; `version` 0 if it is no such file
 */
export function read(text) {
  const none = { states: /** @type {State[]} */ ([]), wrong: /** @type {number[]} */ ([]), version: 0 };
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    return none;
  }
  if (found?.format !== FORMAT || !Number.isInteger(found.version)) return none;
  if (found.version !== VERSION || !Array.isArray(found.states)) return { ...none, version: found.version };
  const wrong = found.states.flatMap((one, at) => (isState(one) ? [] : [at + 1]));
  return { states: found.states.filter(isState).map(bare), wrong, version: VERSION };
}

/** @param {any} one @returns {boolean} */
function isState(one) {
  const short = (/** @type {any} */ text) => typeof text === "string" && text.length <= LONGEST;
  return (
    typeof one === "object" && one !== null && short(one.name) && one.name.trim() !== "" &&
    /^[a-z][a-z0-9_]*$/.test(one.calculator) && typeof one.title === "string" &&
    /^([a-z0-9][a-z0-9_-]*\/)*$/.test(one.page) && /^\d{4}-\d\d-\d\d$/.test(one.saved) &&
    typeof one.values === "object" && one.values !== null && !Array.isArray(one.values) &&
    Object.entries(one.values).every(([key, value]) => /^[a-z][a-z0-9_]*$/.test(key) && typeof value === "string") &&
    Array.isArray(one.texts) && one.texts.every((key) => typeof key === "string") &&
    typeof one.job === "string"
  );
}

/** Nothing but what belongs to a state. @param {State} state @returns {State} */
function bare({ name, calculator, title, page, saved, values, texts, job }) {
  return { name, calculator, title, page, saved, values: { ...values }, texts: [...texts], job };
}

/** The list with some more; a name that another state of that calculator has gets a number. */
export function joined(list, more) {
  const all = [...list];
  for (const one of more) {
    if (all.some((other) => same(one, other) && JSON.stringify(other.values) === JSON.stringify(one.values))) continue;
    let name = one.name;
    for (let copy = 2; all.some((other) => same({ ...one, name }, other)); copy += 1) {
      const end = ` (${copy})`;
      name = one.name.slice(0, LONGEST - end.length) + end;
    }
    all.push({ ...one, name });
  }
  return all;
}

/** Whether two states go by one name. @param {State} one @param {State} other */
export function same(one, other) {
  return one.calculator === other.calculator && one.name === other.name;
}
