/** All calculators of a page around one engine: replies reach the page once per painted frame. */

import { offerActions } from "./calculator/actions.js";
import { createCalculator } from "./calculator/calculator.js";
import { showField } from "./calculator/fields.js";
import { openReceipts, showReceipts } from "./calculator/receipts.js";
import { isBehind, showViews, viewsBehind, wantedExtras, wantedViews } from "./calculator/views.js";
import { createEngine } from "./engine/engine.js";
import { announce } from "./page/announce.js";
import { hideWrong, showWrong } from "./page/bad_link.js";
import { all, partsOf, target, words } from "./page/dom.js";
import { keepEngine } from "./page/offline.js";
import { goOn, isCanceled, listenToSearches, showSearch } from "./page/searching.js";
import { whenIdle, whenNear } from "./page/start.js";
import { say, sayDone, sayFailure, sayLoading, sayWorking, showState } from "./page/status.js";

const PAUSE = 400; // milliseconds until figures far from the window catch up
const SOON = 100; // the same of figures in the window that take long
const NO_FRAME = 500; // milliseconds after which no frame will come
const LONG = 300; // milliseconds that nobody needs to be told about

/**
 * @param {string[]} names
 * @param {ReturnType<typeof import("./page/address.js").createAddress>} address
 * @param {ReturnType<typeof import("./page/settings.js").createSettings>} settings
 */
export function createPage(names, address, settings) {
  const { worker = "", runtime = "" } = document.body.dataset;
  const at = (/** @type {string} */ path) => new URL(path, document.baseURI).href;
  const archives = Object.fromEntries(
    Object.entries(JSON.parse(document.body.dataset.archives ?? "{}")).map(
      ([name, paths]) => [name, paths.map(at)],
    ),
  );
  const engine = createEngine({ workerUrl: at(worker), runtimeUrl: at(runtime), archives, onState });
  const calculators = new Map(names.map((name) => [name, create(name)]));
  /** @type {Map<string, {reply: import("./calculator/calculator.js").Reply, since: number}>} */
  const fresh = new Map();
  /** Timers that say of a calculator that it takes long. @type {Map<string, number>} */
  const slow = new Map();
  /** Calculators whose answer to the reader has not been said yet. @type {Set<string>} */
  const owed = new Set();
  /** Whether a reply has been drawn since the last frame. */
  let drawn = false;
  /** @type {string} */
  let state = "static";
  let timer = 0;

  function create(name) {
    return createCalculator({
      name,
      display: settings.display,
      wanted: (rest) => ({ receipts: openReceipts(name), ...wantedExtras(name, rest) }),
      only: (rest) => (rest ? viewsBehind(name) : wantedViews(name)),
      isText: (input) => partsOf(name, `textarea[name="${input}"]`).length > 0,
      ask(calculator, request) {
        engine.start();
        return engine.ask(calculator, request).finally(() => {
          clearTimeout(slow.get(name));
          sayDone(name);
        });
      },
      onWait() {
        if (state === "live") slow.set(name, setTimeout(() => sayWorking(name), LONG));
        else if (state !== "failed") sayLoading(name);
      },
      onFailure(error) {
        console.warn(error);
        say(name, /** @type {any} */ (error).told ? error.message : words("uncomputed"));
        stale(name, true);
      },
      onOwed: () => goOn(name),
      onReply(reply, since) {
        const waiting = fresh.get(name);
        // Two replies in one frame: only the newer is drawn, from the older one's beginning.
        fresh.set(name, { reply, since: waiting?.since || since });
        if (!drawn) paint();
      },
    });
  }

  /** Draws at once, so that charts, which wait for the next frame, are in the same one. */
  function paint() {
    const replies = [...fresh];
    fresh.clear();
    drawn = true;
    nextFrame(() => {
      drawn = false;
      if (fresh.size) paint();
    });
    for (const [name, { reply, since }] of replies) {
      show(/** @type {any} */ (calculators.get(name)), reply);
      if (since) nextFrame(() => afterPaint(() => performance.measure("update", { start: since })));
      if (since) owed.add(name);
      if (owed.has(name)) tell(name, reply.outputs);
    }
    clearTimeout(timer);
    timer = setTimeout(catchUp, pauseAfter(replies.map(([, { reply }]) => reply)));
  }

  /** The calculator's first number on this page is said aloud, as soon as it is there. */
  function tell(name, outputs) {
    const view = outputs?.[partsOf(name, ".number[data-output]")[0]?.dataset.output ?? ""];
    if (!view) return;
    owed.delete(name);
    announce(`${view.label}: ${view.text}`);
  }

  function catchUp() {
    if (fresh.size) return; // its frame comes back here
    for (const calculator of calculators.values()) {
      if (isBehind(calculator.name) && !isCanceled(calculator.name)) calculator.catchUp();
    }
  }

  /** @param {string} now @param {string} [sentence] */
  function onState(now, sentence = "") {
    state = now === "idle" ? "static" : now;
    showState(names, /** @type {any} */ (state));
    if (now === "failed") {
      sayFailure(sentence);
      announce(sentence);
    } else if (now === "live") {
      for (const name of names) say(name, problemsOf(name));
      for (const calculator of calculators.values()) calculator.send();
      keepEngine(Object.values(archives).flat());
      whenIdle(() => names.forEach(first));
    }
  }

  /** @param {string | undefined} name */
  function first(name) {
    const calculator = calculators.get(name ?? "");
    if (calculator && !calculator.state.busy && !calculator.state.reply) calculator.refresh();
  }

  function problemsOf(name) {
    return calculators.get(name)?.state.reply?.problems.join(" ") ?? "";
  }

  function show(calculator, reply) {
    const { name } = calculator;
    for (const [input, found] of Object.entries(reply.inputs)) {
      const waits = { any: calculator.awaits(input), typed: calculator.awaitsTyped(input) };
      showField(name, input, found, calculator.state.bad[input], waits);
    }
    // Not by the address, in which no text stands.
    const asBuilt = !settings.anyOn && Object.values(reply.inputs).every(({ changed }) => !changed);
    showViews(name, reply, asBuilt);
    showReceipts(name, reply.extra.receipts ?? {});
    // What the page was built with holds while the same is searched behind it.
    const searching = reply.progress && (reply.query.length > 0 || calculator.state.canUndo);
    stale(name, reply.outputs === null || Boolean(searching));
    say(name, reply.problems.join(" "));
    offerActions(calculator);
    showWrong(name, calculator.state.wrong, address.values()[name] ?? {});
    address.put(name, reply.query);
    showSearch(name, reply, Boolean(searching));
  }

  listenToSearches((name) => calculators.get(name)?.catchUp());
  document.addEventListener("click", (event) => {
    if (target(event, "[data-retry]")) engine.retry();
    if (target(event, "[data-dismiss-wrong]")) hideWrong();
  });

  return {
    /** @param {string | undefined} name */
    find: (name) => calculators.get(name ?? ""),
    /** Each calculator gets its first reply when it is near; the others when these have theirs. */
    start() {
      engine.start();
      if (settings.anyOn) names.forEach(first);
      else for (const place of all("[data-of]")) whenNear([place], () => first(place.dataset.of));
    },
    /**
     * Asks a calculator of another page; nothing of its answer is shown here.
     *
     * @param {string} name @param {object} request @param {string[]} needs absolute addresses
     * @returns {Promise<import("./calculator/calculator.js").Reply | null>}
     */
    async ask(name, request, needs) {
      archives[name] ??= needs;
      return JSON.parse((await engine.ask(name, JSON.stringify({ calculator: name, ...request }))) ?? "null");
    },
    refresh() {
      for (const calculator of calculators.values()) calculator.refresh();
    },
    /** No change of the reader is on its way any more, and its frame is drawn. */
    async settled() {
      await Promise.all([...calculators.values()].map((calculator) => calculator.settled()));
      await new Promise((done) => nextFrame(/** @type {() => void} */ (done)));
    },
  };
}

/** How long the reader may rest before what is behind catches up. @param {any[]} replies */
function pauseAfter(replies) {
  if (replies.every((reply) => reply.rest)) return 0;
  return replies.some((reply) => reply.later) ? SOON : PAUSE;
}

/** The last good result stays, dimmed. @param {string} name @param {boolean} is */
function stale(name, is) {
  for (const place of partsOf(name, ":is([data-calculator], [data-output])")) {
    place.classList.toggle("stale", is);
  }
}

/**
 * Before the next frame, or soon: a browser may make none for a window that it does not call hidden.
 * @param {() => void} task
 */
function nextFrame(task) {
  if (document.hidden) {
    setTimeout(task);
    return;
  }
  const late = setTimeout(() => {
    cancelAnimationFrame(frame);
    task();
  }, NO_FRAME);
  const frame = requestAnimationFrame(() => {
    clearTimeout(late);
    task();
  });
}

/** A message posted while a frame is made is delivered when the frame has been painted. */
function afterPaint(task) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = task;
  port2.postMessage(null);
}
