/**
 * Saved states in local storage: a list that is validated whenever it is parsed, from storage or from
 * a file. Where storage is full or forbidden, the list lives as long as the page is open.
 *
 * @typedef {{name: string, calculator: string, title: string, page: string, saved: string,
 *   values: Record<string, string>, texts: string[], job: string}} State  `page` below the home page;
 *   `values` SI; `texts` those of them that are the reader's own and stand in no address; `job` all
 *   inputs that stand for a job, as a query
 */

import { STORAGE_PREFIX } from "./storage.js";

const STATES_KEY = `${STORAGE_PREFIX}states`, FORMAT = "wallclock-states";
export const VERSION = 1;
const MAX_NAME_LENGTH = 60;

/** The list that storage refused. @type {State[] | null} */
let unsavedStates = null;

/** @returns {State[]} */
export function readStates() {
  if (unsavedStates) return unsavedStates;
  try {
    return parseStates(localStorage.getItem(STATES_KEY) ?? "").states;
  } catch {
    return [];
  }
}

/** @param {State[]} states @returns {boolean} whether it was stored */
export function storeStates(states) {
  try {
    localStorage.setItem(STATES_KEY, serializeStates(states));
    unsavedStates = null;
    return true;
  } catch {
    unsavedStates = states;
    return false;
  }
}

/** @param {State[]} states @returns {string} JSON of a file */
export function serializeStates(states) {
  return JSON.stringify({ format: FORMAT, version: VERSION, states: states }, null, 1);
}

/**
 * @param {string} text of a file, or of storage
 * @returns {{states: State[], wrong: number[], version: number}} `wrong`: which entries are damaged,
 *   from 1; `version` 0 if it is no such file
 */
export function parseStates(text) {
  const invalid = { states: /** @type {State[]} */ ([]), wrong: /** @type {number[]} */ ([]), version: 0 };
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    return invalid;
  }
  if (document?.format !== FORMAT || !Number.isInteger(document.version)) return invalid;
  if (document.version !== VERSION || !Array.isArray(document.states)) return { ...invalid, version: document.version };
  const wrong = document.states.flatMap((state, index) => (isState(state) ? [] : [index + 1]));
  return { states: document.states.filter(isState).map(copyState), wrong, version: VERSION };
}

/** @param {any} value @returns {boolean} */
function isState(value) {
  const isShortText = (/** @type {any} */ text) => typeof text === "string" && text.length <= MAX_NAME_LENGTH;
  return (
    typeof value === "object" && value !== null && isShortText(value.name) && value.name.trim() !== "" &&
    /^[a-z][a-z0-9_]*$/.test(value.calculator) && typeof value.title === "string" &&
    /^([a-z0-9][a-z0-9_-]*\/)*$/.test(value.page) && /^\d{4}-\d\d-\d\d$/.test(value.saved) &&
    typeof value.values === "object" && value.values !== null && !Array.isArray(value.values) &&
    Object.entries(value.values).every(([key, value]) => /^[a-z][a-z0-9_]*$/.test(key) && typeof value === "string") &&
    Array.isArray(value.texts) && value.texts.every((key) => typeof key === "string") &&
    typeof value.job === "string"
  );
}

/** Copies the fields of a state, and no others. @param {State} state @returns {State} */
function copyState({ name, calculator, title, page, saved, values, texts, job }) {
  return { name, calculator, title, page, saved, values: { ...values }, texts: [...texts], job };
}

/** Returns the list with states added; a name that its calculator already has gets a number. */
export function mergeStates(existing, added) {
  const merged = [...existing];
  for (const state of added) {
    if (merged.some((other) => isSameState(state, other)
      && JSON.stringify(other.values) === JSON.stringify(state.values))) continue;
    let name = state.name;
    for (let copy = 2; merged.some((other) => isSameState({ ...state, name }, other)); copy += 1) {
      const end = ` (${copy})`;
      name = state.name.slice(0, MAX_NAME_LENGTH - end.length) + end;
    }
    merged.push({ ...state, name });
  }
  return merged;
}

/** Whether two states have the same calculator and name. @param {State} first @param {State} second */
export function isSameState(first, second) {
  return first.calculator === second.calculator && first.name === second.name;
}
