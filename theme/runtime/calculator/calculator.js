/**
 * One calculator on the page: what the reader has changed, one request at a time, the last reply.
 * It holds texts only; every value is read, checked and computed by the engine.
 *
 * @typedef {import("./change.js").Change} Change
 * @typedef {import("./change.js").Values} Values
 * @typedef {{
 *   inputs: Record<string, {value: string | null, text: string, position: number | null,
 *     changed: boolean, error: string | null}>,
 *   problems: string[], query: [string, string][],
 *   outputs: Record<string, any> | null, extra: Record<string, Record<string, string>>,
 *   later?: string[], asked?: string[], rest?: boolean,
 *   progress?: {share: number, text: string},
 * }} Reply `later`: views that would have taken too long; `asked`: those that the request named;
 *   `rest`: nothing changed, it brings what was left behind; `progress`: of a search that goes on
 */

import { merged, noChange, touched } from "./change.js";
import { createHistory } from "./history.js";

/** Seconds until a reply; a view that takes longer comes later, unless the reader goes on. */
const WITHIN = 0.03;

/**
 * @param {{
 *   name: string,
 *   ask: (calculator: string, request: string) => Promise<string | null>,
 *   display: () => Record<string, boolean>,
 *   wanted: (rest: boolean) => Record<string, string[]>,
 *   only: (rest: boolean) => string[],
 *   isText: (input: string) => boolean,
 *   onWait: () => void,
 *   onReply: (reply: Reply, since: number) => void,
 *   onFailure: (error: Error) => void,
 *   onOwed: () => void,
 * }} parts `wanted` lists the extras to renew with every reply,
 *   `only` the views that are looked at, or that were left behind; `isText` says that an input is
 *   a text of several lines; `since` is when the change began;
 *   `onOwed` hears that somebody waits for what only the end of a search can give
 */
export function createCalculator({ name, ask, display, wanted, only, isText, ...on }) {
  const history = createHistory();
  /** What differs from the defaults. @type {Values} */
  let base = {};
  /** Bad texts, sent again until they are mended. @type {Record<string, string>} */
  let bad = {};
  /** @type {Change | null} */
  let next = null;
  /** @type {Reply | null} */
  let reply = null;
  let busy = false;
  /** @type {Change} what the engine is being asked now */
  let running = noChange();
  let fallback = false;
  let rest = false;
  /** What was wrong in the address, said until the reader changes something. */
  let wrong = { errors: /** @type {[string, string][]} */ ([]), problems: /** @type {string[]} */ ([]) };
  let since = 0;
  let keep = true;
  /** @type {{kind: string, output: string, done: (text: string) => void}[]} */
  let extras = [];
  /** Who waits until no change is on its way. @type {(() => void)[]} */
  let resting = [];

  /** @param {Change} change */
  function request(change) {
    const want = structuredClone(wanted(rest));
    for (const { kind, output } of extras) {
      want[kind] = [...new Set([...(want[kind] ?? []), output])];
    }
    const typed = { ...bad };
    for (const input of touched(change)) delete typed[input];
    return {
      calculator: name,
      values: { ...base, ...change.values },
      typed: { ...typed, ...change.typed },
      slide: change.slide,
      nudge: change.nudge,
      display: display(),
      want,
      only: only(rest),
      within: WITHIN,
      short: true,
      ...(fallback ? { fallback } : {}),
    };
  }

  async function send() {
    if (busy || !next) return;
    const change = next;
    const waiting = [...extras];
    const [started, asked] = [since, keep];
    const before = { values: base, typed: replaced(change) };
    if (change.base) [base, bad] = [change.base, {}];
    [next, since, keep, busy, running] = [null, 0, true, true, change];
    const message = { ...request(change), rest };
    rest = false;
    if (started) on.onWait();
    const text = await ask(name, JSON.stringify(message)).catch(on.onFailure);
    busy = false;
    if (text === undefined) {
      if (next) send();
      else rested();
      return;
    }
    if (text === null) {
      // Another request took its place. Nothing is lost: it goes with the next one.
      base = change.base ? before.values : base;
      next = merged(change, next ?? {});
      since ||= started;
      return;
    }
    const found = JSON.parse(text);
    // A search that goes on gives only what needs no numbers: the rest is asked for again.
    const told = waiting.filter(({ kind, output }) => !found.progress || found.extra[kind]?.[output] !== undefined);
    extras = extras.filter((extra) => !told.includes(extra));
    take(found, message, change, asked ? before : null, started);
    if (found.progress && extras.length) on.onOwed();
    for (const { kind, output, done } of told) done(reply?.extra[kind]?.[output] ?? "");
    if (next) send();
    else rested();
  }

  /**
   * @param {Reply} found
   * @param {{values: Values, typed: Record<string, string>, only: string[], rest: boolean}} message
   * @param {Change} change
   * @param {import("./history.js").State | null} before null when the change is an undo itself
   * @param {number} started
   */
  function take(found, message, change, before, started) {
    const inputs = Object.entries(found.inputs);
    // What a reader of files handed over is long, and not sent back.
    const given = (key, { value }) => value ?? message.values[key];
    base = Object.fromEntries(inputs.filter(([, i]) => i.changed).map(([key, i]) => [key, given(key, i)]));
    // What an address holds is not used where it is bad; what a reader typed meanwhile, or a file, stays.
    const files = fallback ? Object.entries(message.values).filter(([key]) => isText(key)) : [];
    const typed = [...files, ...Object.entries(message.typed)];
    bad = Object.fromEntries(typed.filter(([key]) => found.inputs[key]?.error));
    if (before && !fallback && isOver(before)) {
      history.push(before, touched(change).join(" "), performance.now());
    }
    if (fallback) {
      const errors = inputs.filter(([, i]) => i.error).map(([key, i]) => [key, i.error ?? ""]);
      wrong = { errors: /** @type {[string, string][]} */ (errors), problems: found.problems };
    } else if (started) {
      wrong = { errors: [], problems: [] };
    } else {
      for (const [key, error] of wrong.errors) found.inputs[key].error ??= error;
      found.problems.push(...wrong.problems);
    }
    fallback = false;
    found.asked = message.only;
    found.rest = message.rest;
    reply = found;
    on.onReply(found, started);
  }

  function rested() {
    const told = resting;
    resting = [];
    for (const tell of told) tell();
  }

  /** A text that could not be read, and that the reader does not change by typing: it comes back with Undo. */
  function replaced(change) {
    const gone = change.base ? Object.keys(bad) : touched(change).filter((input) => !(input in change.typed));
    return Object.fromEntries(Object.entries(bad).filter(([input]) => isText(input) && gone.includes(input)));
  }

  /** @param {import("./history.js").State} before */
  function isOver({ values, typed }) {
    return Object.keys(typed).length > 0 || JSON.stringify(values) !== JSON.stringify(base);
  }

  /** @param {Partial<Change>} change @param {Event} [event] */
  function change(change, event) {
    next = merged(next ?? noChange(), change);
    since ||= event?.timeStamp ?? 0;
    send();
  }

  /** @param {Values} values */
  function replace(values, event = undefined) {
    change({ ...noChange(), base: values }, event);
  }

  return {
    name,
    change,
    replace,
    send,
    /** Ask again with what is there, for other units or for the first reply. */
    refresh() {
      change({});
    },
    /** Ask for the views that were left behind, unless the reader goes on. */
    catchUp() {
      if (busy || next) return;
      rest = true;
      change({});
    },
    /** @param {Values} values as they stand in the address; bad ones are reported and not used */
    load(values) {
      fallback = true;
      change({ values });
    },
    undo(event) {
      const state = history.pop();
      if (!state) return;
      keep = false;
      change({ ...noChange(), base: state.values, typed: state.typed }, event);
    },
    /** @param {string} kind @param {string} output @returns {Promise<string>} "" if there is none */
    extra(kind, output) {
      return new Promise((done) => {
        extras.push({ kind, output, done });
        change({});
      });
    },
    /** @param {() => void} then done as soon as no change of the reader is on its way */
    atRest(then) {
      if (busy || next) resting.push(then);
      else then();
    },
    /** @returns {Promise<void>} at rest, if the reader has changed something; at once if not */
    settled() {
      const changed = [...(busy ? [running] : []), ...(next ? [next] : [])].some((one) => one.base || touched(one).length);
      return new Promise((done) => (changed ? resting.push(done) : done()));
    },
    /** @param {string} input @returns {boolean} whether a change of it is still on its way */
    awaits(input) {
      const under = busy ? touched(running) : [];
      return [...under, ...touched(next ?? noChange())].includes(input);
    },
    /** @param {string} input @returns {boolean} whether a text that was typed for it is */
    awaitsTyped(input) {
      return (busy && input in running.typed) || input in (next?.typed ?? {});
    },
    get state() {
      return { base, bad, reply, busy, wrong, canUndo: !history.empty };
    },
  };
}
