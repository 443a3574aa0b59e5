/** All calculators of a page and their one engine; replies are rendered once per frame. */

import { updateActions } from "./calculator/actions.js";
import { createCalculator } from "./calculator/calculator.js";
import { renderField } from "./calculator/fields.js";
import { openReceiptNames, renderReceipts } from "./calculator/receipts.js";
import { hasStaleFigures, renderViews, staleViews, openTables, visibleViews } from "./calculator/views.js";
import { createEngine } from "./engine/engine.js";
import { announce } from "./page/announce.js";
import { hideLinkProblems, renderLinkProblems } from "./page/link_problems.js";
import { queryAll, elementsOf, closestTarget, uiString } from "./page/dom.js";
import { cacheEngine } from "./page/offline.js";
import { resumeComputation, isCanceled, listenToProgress, renderProgress } from "./page/progress.js";
import { whenIdle, whenNear } from "./page/start.js";
import { renderStatus, clearWorking, renderFailure, renderLoading, renderWorking, renderState } from "./page/status.js";

const DEFERRED_DELAY = 400; // milliseconds until figures far from the window catch up
const SLOW_VIEW_DELAY = 100; // the same of figures in the window that take long
const FRAME_TIMEOUT = 500; // milliseconds after which no frame will come
const BUSY_NOTICE_DELAY = 300; // milliseconds that nobody needs to be told about

/**
 * @param {string[]} names
 * @param {ReturnType<typeof import("./page/address.js").createAddress>} address
 * @param {ReturnType<typeof import("./page/settings.js").createSettings>} settings
 */
export function createPage(names, address, settings) {
  const { worker = "", runtime = "" } = document.body.dataset;
  const absoluteUrl = (/** @type {string} */ path) => new URL(path, document.baseURI).href;
  const archives = Object.fromEntries(
    Object.entries(JSON.parse(document.body.dataset.archives ?? "{}")).map(
      ([name, paths]) => [name, paths.map(absoluteUrl)],
    ),
  );
  const engine = createEngine({ workerUrl: absoluteUrl(worker), runtimeUrl: absoluteUrl(runtime), archives, onState });
  const calculators = new Map(names.map((name) => [name, createPageCalculator(name)]));
  /** @type {Map<string, {reply: import("./calculator/calculator.js").Reply, since: number}>} */
  const pendingReplies = new Map();
  /** Timers that show a calculator as busy. @type {Map<string, number>} */
  const busyTimers = new Map();
  /** Calculators with a change whose result has not been announced yet. @type {Set<string>} */
  const unannounced = new Set();
  /** Whether a reply has been drawn since the last frame. */
  let painted = false;
  /** @type {string} */
  let state = "static";
  let timer = 0;

  function createPageCalculator(name) {
    return createCalculator({
      name,
      display: settings.display,
      wanted: (rest) => ({ receipts: openReceiptNames(name), ...openTables(name, rest) }),
      only: (rest) => (rest ? staleViews(name) : visibleViews(name)),
      isText: (input) => elementsOf(name, `textarea[name="${input}"]`).length > 0,
      ask(calculator, request) {
        engine.start();
        return answer(calculator, request).finally(() => {
          clearTimeout(busyTimers.get(name));
          clearWorking(name);
        });
      },
      onWait() {
        if (state === "live") busyTimers.set(name, setTimeout(() => renderWorking(name), BUSY_NOTICE_DELAY));
        else if (state !== "failed") {
          renderLoading(name);
          import("./page/link_inputs.js").then(({ dimResults }) => calculators.get(name)?.state.reply ?? dimResults(name));
        }
      },
      onFailure(error) {
        console.warn(error);
        renderStatus(name, /** @type {any} */ (error).told ? error.message : uiString("uncomputed"));
        toggleStale(name, true);
      },
      onOwed: () => resumeComputation(name),
      onReply(reply, since) {
        const waiting = pendingReplies.get(name);
        // Two replies in one frame: only the newer is drawn, from the older one's beginning.
        pendingReplies.set(name, { reply, since: waiting?.since || since });
        if (!painted) paint();
      },
    });
  }

  /** The engine's reply; until it is there, the one that the build has made, if any. */
  async function answer(calculator, request) {
    if (state === "live" || !document.body.classList.contains("home")) return engine.ask(calculator, request);
    const { earlyAnswer } = await import("./engine/early_answers.js");
    return (await earlyAnswer(calculator, request)) ?? engine.ask(calculator, request);
  }

  /** Renders pending replies now, so that charts, which wait for the next frame, are in the same one. */
  function paint() {
    const replies = [...pendingReplies];
    pendingReplies.clear();
    painted = true;
    onNextFrame(() => {
      painted = false;
      if (pendingReplies.size) paint();
    });
    for (const [name, { reply, since }] of replies) {
      renderReply(/** @type {any} */ (calculators.get(name)), reply);
      if (since) onNextFrame(() => afterPaint(() => performance.measure("update", { start: since })));
      if (since) unannounced.add(name);
      if (unannounced.has(name)) announceResult(name, reply.outputs);
    }
    clearTimeout(timer);
    timer = setTimeout(catchUp, deferredDelay(replies.map(([, { reply }]) => reply)));
  }

  /** Announces the calculator's headline, or its first number on this page, to screen readers. */
  function announceResult(name, outputs) {
    const [number] = [".lead .number[data-output]", ".number[data-output]"].flatMap((selector) => elementsOf(name, selector));
    const view = outputs?.[number?.dataset.output ?? ""];
    if (!view) return;
    unannounced.delete(name);
    announce(`${view.label}: ${view.text}`);
  }

  function catchUp() {
    if (pendingReplies.size) return; // its frame comes back here
    for (const calculator of calculators.values()) {
      if (hasStaleFigures(calculator.name) && !isCanceled(calculator.name)) calculator.catchUp();
    }
  }

  /** @param {string} nextState @param {string} [sentence] */
  function onState(nextState, sentence = "") {
    state = nextState === "idle" ? "static" : nextState;
    renderState(names, /** @type {any} */ (state));
    if (nextState === "failed") {
      renderFailure(sentence);
      announce(sentence);
    } else if (nextState === "live") {
      for (const name of names) if (calculators.get(name)?.state.reply) renderStatus(name, problemsOf(name));
      for (const calculator of calculators.values()) calculator.send();
      cacheEngine(Object.values(archives).flat());
      whenIdle(() => names.forEach(requestFirstReply));
    }
  }

  /** @param {string | undefined} name */
  function requestFirstReply(name) {
    const calculator = calculators.get(name ?? "");
    if (calculator && !calculator.state.busy && !calculator.state.reply) calculator.refresh();
  }

  function problemsOf(name) {
    return calculators.get(name)?.state.reply?.problems.join(" ") ?? "";
  }

  function renderReply(calculator, reply) {
    const { name } = calculator;
    for (const [input, field] of Object.entries(reply.inputs)) {
      const pending = { any: calculator.isPending(input), typed: calculator.isTypedPending(input) };
      renderField(name, input, field, calculator.state.bad[input], pending);
    }
    // Not by the address, in which no text stands.
    const asBuilt = !settings.anyOn && Object.values(reply.inputs).every(({ changed }) => !changed);
    renderViews(name, reply, asBuilt);
    renderReceipts(name, reply.extra.receipts ?? {});
    // What the page was built with holds while the same is searched behind it.
    const inProgress = reply.progress && (reply.query.length > 0 || calculator.state.canUndo);
    toggleStale(name, reply.outputs === null || Boolean(inProgress));
    renderStatus(name, reply.problems.join(" "));
    updateActions(calculator);
    renderLinkProblems(name, calculator.state.wrong, address.values()[name] ?? {});
    address.setCalculator(name, reply.query);
    renderProgress(name, reply, Boolean(inProgress));
    document.dispatchEvent(new CustomEvent("answered", { detail: { name, reply } }));
  }

  listenToProgress((name) => calculators.get(name)?.catchUp());
  document.addEventListener("click", (event) => {
    if (closestTarget(event, "[data-retry]")) engine.retry();
    if (closestTarget(event, "[data-dismiss-wrong]")) hideLinkProblems();
  });

  return {
    address,
    /** @param {string | undefined} name */
    find: (name) => calculators.get(name ?? ""),
    /** Requests the first reply of each calculator when it comes near the window. */
    start() {
      engine.start();
      if (settings.anyOn) names.forEach(requestFirstReply);
      else for (const element of queryAll("[data-of]")) whenNear([element], () => requestFirstReply(element.dataset.of));
    },
    /**
     * Requests a reply of another page's calculator; nothing of it is rendered here.
     *
     * @param {string} name @param {object} request
     * @param {Record<string, string[]>} itsArchives absolute addresses, as of that page
     * @returns {Promise<import("./calculator/calculator.js").Reply | null>}
     */
    async ask(name, request, itsArchives) {
      archives[name] ??= itsArchives[name];
      const text = JSON.stringify({ calculator: name, ...request });
      return JSON.parse((await engine.ask(name, text, itsArchives)) ?? "null");
    },
    refresh() {
      for (const calculator of calculators.values()) calculator.refresh();
    },
    /** Resolves when no change is pending and the last frame is rendered. */
    async settled() {
      await Promise.all([...calculators.values()].map((calculator) => calculator.settled()));
      await new Promise((done) => onNextFrame(/** @type {() => void} */ (done)));
    },
  };
}

/** Returns the delay in milliseconds before stale figures are computed. @param {any[]} replies */
function deferredDelay(replies) {
  if (replies.every((reply) => reply.rest)) return 0;
  return replies.some((reply) => reply.later) ? SLOW_VIEW_DELAY : DEFERRED_DELAY;
}

/** Dims the last good result, which stays. @param {string} name @param {boolean} isStale */
function toggleStale(name, isStale) {
  for (const element of elementsOf(name, ":is([data-calculator], [data-output])")) {
    element.classList.toggle("stale", isStale);
  }
}

/**
 * Runs a task before the next frame, or after a timeout: a browser may make no frame for a window that it does not call hidden.
 * @param {() => void} task
 */
function onNextFrame(task) {
  if (document.hidden) {
    setTimeout(task);
    return;
  }
  const fallback = setTimeout(() => {
    cancelAnimationFrame(frame);
    task();
  }, FRAME_TIMEOUT);
  const frame = requestAnimationFrame(() => {
    clearTimeout(fallback);
    task();
  });
}

/** Runs a task after the current frame is painted: a message posted meanwhile is delivered then. */
function afterPaint(task) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = task;
  port2.postMessage(null);
}
