/**
 * State of one calculator: changed inputs, one request at a time, the last reply. It holds texts only;
 * every value is parsed, validated and computed by the engine.
 *
 * @typedef {import("./change.js").Change} Change
 * @typedef {import("./change.js").Values} Values
 * @typedef {{
 *   inputs: Record<string, {value: string | null, text: string, position: number | null,
 *     changed: boolean, error: string | null}>,
 *   problems: string[], query: [string, string][],
 *   outputs: Record<string, any> | null, extra: Record<string, Record<string, string>>,
 *   kept?: Record<string, any>, headline?: string, later?: string[], asked?: string[], rest?: boolean,
 *   progress?: {share: number, text: string},
 * }} Reply `later`: views that would have taken too long; `asked`: those that the request named;
 *   `rest`: nothing changed, it brings what was left behind; `progress`: of a search that goes on
 */

import { mergeChanges, emptyChange, changedInputs } from "./change.js";
import { createHistory } from "./history.js";
import { hasDock } from "../page/dom.js";

/** Time budget of a reply in seconds; slower views are deferred. */
const TIME_BUDGET = 0.03;

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
  /** Inputs that differ from the defaults. @type {Values} */
  let changedValues = {};
  /** Bad texts, sent again until they are mended. @type {Record<string, string>} */
  let badTexts = {};
  /** @type {Change | null} */
  let nextChange = null;
  /** @type {Reply | null} */
  let reply = null;
  let isBusy = false;
  /** @type {Change} change of the running request */
  let runningChange = emptyChange();
  let fromAddress = false;
  let isRest = false;
  /** Problems of the URL, shown until the reader changes something. */
  let linkProblems = { errors: /** @type {[string, string][]} */ ([]), problems: /** @type {string[]} */ ([]) };
  let changedAt = 0;
  /** The state to compare with, and the charts of it that are missing. @type {{values: Values, ghosts: () => string[]} | null} */
  let kept = null;
  let isUndoable = true;
  /** @type {{kind: string, output: string, done: (text: string) => void}[]} */
  let requestedExtras = [];
  /** Callbacks for when no change is pending. @type {(() => void)[]} */
  let restCallbacks = [];

  /** @param {Change} change */
  function buildRequest(change) {
    const extras = structuredClone(wanted(isRest));
    for (const { kind, output } of requestedExtras) {
      extras[kind] = [...new Set([...(extras[kind] ?? []), output])];
    }
    const typed = { ...badTexts };
    for (const input of changedInputs(change)) delete typed[input];
    return {
      calculator: name,
      values: { ...changedValues, ...change.values },
      typed: { ...typed, ...change.typed },
      slide: change.slide,
      nudge: change.nudge,
      display: display(),
      want: extras,
      only: only(isRest),
      within: TIME_BUDGET,
      short: true,
      ...(kept ? { kept: kept.values, ghosts: kept.ghosts() } : {}),
      ...(hasDock() ? { headline: true } : {}),
      ...(fromAddress ? { fallback: fromAddress } : {}),
    };
  }

  async function send() {
    if (isBusy || !nextChange) return;
    const change = nextChange;
    const waitingExtras = [...requestedExtras];
    const [startedAt, undoable] = [changedAt, isUndoable];
    const previous = { values: changedValues, typed: droppedTexts(change) };
    if (change.base) [changedValues, badTexts] = [change.base, {}];
    [nextChange, changedAt, isUndoable, isBusy, runningChange] = [null, 0, true, true, change];
    const message = { ...buildRequest(change), rest: isRest };
    isRest = false;
    if (startedAt) on.onWait();
    const text = await ask(name, JSON.stringify(message)).catch(on.onFailure);
    isBusy = false;
    if (text === undefined) {
      if (nextChange) send();
      else notifyAtRest();
      return;
    }
    if (text === null) {
      // Another request took its place. Nothing is lost: it goes with the next one.
      changedValues = change.base ? previous.values : changedValues;
      nextChange = mergeChanges(change, nextChange ?? {});
      changedAt ||= startedAt;
      return;
    }
    const received = JSON.parse(text);
    // A search that goes on gives only what needs no numbers: the rest is asked for again.
    const answered = waitingExtras.filter(({ kind, output }) =>
      !received.progress || received.extra[kind]?.[output] !== undefined);
    requestedExtras = requestedExtras.filter((extra) => !answered.includes(extra));
    applyReply(received, message, change, undoable ? previous : null, startedAt);
    if (received.progress && requestedExtras.length) on.onOwed();
    for (const { kind, output, done } of answered) done(reply?.extra[kind]?.[output] ?? "");
    if (nextChange) send();
    else notifyAtRest();
  }

  /**
   * @param {Reply} received
   * @param {{values: Values, typed: Record<string, string>, only: string[], rest: boolean}} message
   * @param {Change} change
   * @param {import("./history.js").State | null} previous null when the change is an undo itself
   * @param {number} startedAt
   */
  function applyReply(received, message, change, previous, startedAt) {
    const inputs = Object.entries(received.inputs);
    // What a reader of files handed over is long, and not sent back.
    const valueOf = (key, { value }) => value ?? message.values[key];
    changedValues = Object.fromEntries(inputs.filter(([, i]) => i.changed).map(([key, i]) => [key, valueOf(key, i)]));
    // What an address holds is not used where it is bad; what a reader typed meanwhile, or a file, stays.
    const files = fromAddress ? Object.entries(message.values).filter(([key]) => isText(key)) : [];
    const typed = [...files, ...Object.entries(message.typed)];
    badTexts = Object.fromEntries(typed.filter(([key]) => received.inputs[key]?.error));
    if (previous && !fromAddress && hasChanged(previous)) {
      history.push(previous, changedInputs(change).join(" "), performance.now());
    }
    if (fromAddress) {
      const errors = inputs.filter(([, i]) => i.error).map(([key, i]) => [key, i.error ?? ""]);
      linkProblems = { errors: /** @type {[string, string][]} */ (errors), problems: received.problems };
    } else if (startedAt) {
      linkProblems = { errors: [], problems: [] };
    } else {
      for (const [key, error] of linkProblems.errors) received.inputs[key].error ??= error;
      received.problems.push(...linkProblems.problems);
    }
    fromAddress = false;
    received.asked = message.only;
    received.rest = message.rest;
    reply = received;
    on.onReply(received, startedAt);
  }

  function notifyAtRest() {
    const callbacks = restCallbacks;
    restCallbacks = [];
    for (const callback of callbacks) callback();
  }

  /** Returns the invalid texts that a change drops without typing; Undo restores them. */
  function droppedTexts(change) {
    const dropped = change.base ? Object.keys(badTexts) : changedInputs(change).filter((input) => !(input in change.typed));
    return Object.fromEntries(Object.entries(badTexts).filter(([input]) => isText(input) && dropped.includes(input)));
  }

  /** @param {import("./history.js").State} before */
  function hasChanged({ values, typed }) {
    return Object.keys(typed).length > 0 || JSON.stringify(values) !== JSON.stringify(changedValues);
  }

  /** @param {Partial<Change>} change @param {Event} [event] */
  function change(change, event) {
    nextChange = mergeChanges(nextChange ?? emptyChange(), change);
    changedAt ||= event?.timeStamp ?? 0;
    send();
  }

  /** @param {Values} values */
  function replace(values, event = undefined) {
    change({ ...emptyChange(), base: values }, event);
  }

  return {
    name,
    change,
    replace,
    send,
    /** Requests a reply for the current inputs: the first one, or one in other units. */
    refresh() {
      change({});
    },
    /**
     * Compares with a state from now on, or with none.
     * @param {Values | null} values @param {() => string[]} [ghosts] charts of it that are wanted
     */
    keep(values, ghosts = () => []) {
      kept = values && { values, ghosts };
      change({});
    },
    /** Requests the deferred views, unless a change is pending. */
    catchUp() {
      if (isBusy || nextChange) return;
      isRest = true;
      change({});
    },
    /** @param {Values} values from the URL; invalid ones are reported and not used */
    loadFromAddress(values) {
      fromAddress = true;
      change({ values });
    },
    undo(event) {
      const state = history.pop();
      if (!state) return;
      isUndoable = false;
      change({ ...emptyChange(), base: state.values, typed: state.typed }, event);
    },
    /** @param {string} kind @param {string} output @returns {Promise<string>} "" if there is none */
    requestExtra(kind, output) {
      return new Promise((resolve) => {
        requestedExtras.push({ kind, output, done: resolve });
        change({});
      });
    },
    /** @param {() => void} callback called when no change is pending */
    whenAtRest(callback) {
      if (isBusy || nextChange) restCallbacks.push(callback);
      else callback();
    },
    /** @returns {Promise<void>} resolves when pending changes are done */
    settled() {
      const changed = [...(isBusy ? [runningChange] : []), ...(nextChange ? [nextChange] : [])].some((change) =>
        change.base || changedInputs(change).length);
      return new Promise((resolve) => (changed ? restCallbacks.push(resolve) : resolve()));
    },
    /** @param {string} input @returns {boolean} whether a change of it is pending */
    isPending(input) {
      const runningInputs = isBusy ? changedInputs(runningChange) : [];
      return [...runningInputs, ...changedInputs(nextChange ?? emptyChange())].includes(input);
    },
    /** @param {string} input @returns {boolean} whether a text typed for it is pending */
    isTypedPending(input) {
      return (isBusy && input in runningChange.typed) || input in (nextChange?.typed ?? {});
    },
    get state() {
      return { base: changedValues, bad: badTexts, reply, busy: isBusy, kept: kept?.values ?? null, wrong: linkProblems, canUndo: !history.empty };
    },
  };
}
