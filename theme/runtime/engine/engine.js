// Client of the engine's Worker: starts it, sends requests, restarts it after a crash.

const RESTARTS = 2; // in a row, without an answer in between
const RESTORE_TIMEOUT = 20000; // milliseconds in which a snapshot is in memory on any machine

/**
 * @typedef {"idle" | "loading" | "live" | "failed"} State
 * @typedef {{id: number, request: string, needs: string[], deferred?: Record<string, string[]>,
 *   resolve: (reply: string | null) => void, reject: (error: Error) => void}} Job
 */

/**
 * @param {{workerUrl: string, runtimeUrl: string, archives?: Record<string, string[]>,
 *   patience?: number, onState?: (state: State, sentence?: string) => void}} options  absolute URLs
 *   of worker.js, of the bundle's manifest and, by calculator, of what only that one needs, and by dotted name
 *   of what the import of a deferred module needs; how long
 *   (milliseconds) a running Worker may take for one answer: a search takes half a minute on a slow phone.
 */
export function createEngine(options) {
  const { workerUrl, runtimeUrl, archives = {}, patience = 60000, onState = () => {} } = options;
  /** @type {Map<string, {running: Job | null, waiting: Job | null}>} */
  const slots = new Map();
  let state = /** @type {State} */ ("idle");
  let worker = /** @type {Worker | null} */ (null);
  let restarts = 0;
  let lastId = 0;
  let watchdog = 0;
  let startedAt = /** @type {number | null} */ (null);
  let timings = {};

  function setState(next, sentence) {
    state = next;
    onState(next, sentence);
  }

  function startWorker(withoutSnapshot, fresh = false) {
    stopWorker();
    setState("loading");
    const launched = create(), archiveUrls = [...new Set(Object.values(archives).flat())];
    const deferred = Object.fromEntries(Object.entries(archives).filter(([name]) => name.includes(".")));
    if (launched === null) return;
    worker = launched;
    const lock = navigator.locks && `wallclock ${crypto.randomUUID()}`;
    fetchManifest(runtimeUrl, fresh).then(
      (manifest) =>
        worker === launched &&
        launched.postMessage({ start: manifest, base: runtimeUrl, archives: archiveUrls, deferred,
          plain: withoutSnapshot, fresh, lock }),
      (error) => worker === launched && fail(error.message),
    );
    for (const { running } of slots.values()) if (running) prefetch(running);
    launched.onmessage = ({ data }) => {
      if (worker !== launched) return;
      if (data.held) navigator.locks.request(lock, () => worker === launched && restartWorker());
      else handleMessage(data);
    };
    launched.onmessageerror = () => worker === launched && handleCrash();
    launched.onerror = (event) => {
      event.preventDefault();
      if (worker === launched) handleCrash(event.message);
    };
  }

  function create() {
    try {
      return new Worker(workerUrl, { type: "module" });
    } catch (error) {
      console.warn(error);
      fail(`The script ${fileName(workerUrl)} could not be started.`);
      return null;
    }
  }

  function stopWorker() {
    clearTimeout(watchdog);
    worker?.terminate();
    worker = null;
  }

  function fail(sentence) {
    stopWorker();
    setState("failed", sentence);
  }

  function handleCrash(message) {
    if (message) console.warn(message);
    if (state === "loading") fail(`The script ${fileName(workerUrl)} could not be loaded.`);
    else restartWorker();
  }

  /** Restarts a Worker that is gone or hangs. */
  function restartWorker() {
    if (restarts >= RESTARTS) fail("Python stopped again and again on the same request.");
    else {
      restarts += 1;
      startWorker(true);
    }
  }

  function handleMessage(data) {
    if (data.ready) handleReady(data.timings);
    else if (data.restoring) watchdog = setTimeout(startWorker, Math.min(patience, RESTORE_TIMEOUT), true);
    else if (data.again) startWorker(true);
    else if (data.failed) fail(data.failed);
    else handleReply(data);
  }

  function handleReady(workerTimings) {
    timings = workerTimings;
    setState("live");
    watchReply();
    for (const { running } of slots.values()) if (running) postRequest(running);
  }

  function postRequest({ id, request, needs, deferred }) {
    worker.postMessage({ id, request, needs, deferred });
    watchReply();
  }

  /** Prefetches a calculator's archives while Python loads. @param {Job} job */
  function prefetch({ needs }) {
    if (needs.length) worker?.postMessage({ ahead: needs });
  }

  /** Treat a Worker as crashed if a reply takes longer than `patience`. */
  function watchReply() {
    clearTimeout(watchdog);
    const isWaiting = [...slots.values()].some(({ running }) => running);
    if (isWaiting) watchdog = setTimeout(handleCrash, patience);
  }

  function handleReply({ id, reply, failure, told }) {
    const slot = [...slots.values()].find(({ running }) => running?.id === id);
    if (!slot) return; // an answer nobody waits for any more
    restarts = 0;
    const { running, waiting } = slot;
    slot.running = waiting;
    slot.waiting = null;
    watchReply();
    if (waiting) postRequest(waiting);
    if (failure === undefined) running.resolve(reply);
    else running.reject(Object.assign(new Error(failure), { told }));
    recordStartTime();
  }

  function recordStartTime() {
    if (startedAt === null) return;
    performance.measure("runtime-start", {
      start: startedAt,
      end: performance.now(),
      detail: timings,
    });
    startedAt = null;
  }

  return {
    /** Start the Worker if it has not been started. */
    start() {
      if (state !== "idle") return;
      startedAt = performance.now();
      startWorker(false);
    },

    /**
     * Ask a calculator; starts the Worker if need be. While one request of a calculator runs, the
     * newest other one waits and those it replaces resolve to null. A request stays until it is
     * answered, over restarts and `retry`. Rejects when the engine itself fails on the request.
     * `deferred` are further deferred modules, of a calculator of another page.
     * @returns {Promise<string | null>}
     */
    ask(calculator, request, deferred) {
      this.start();
      return new Promise((resolve, reject) => {
        const slot = slots.get(calculator) ?? { running: null, waiting: null };
        const needs = archives[calculator] ?? [];
        const job = { id: (lastId += 1), request, needs, deferred, resolve, reject };
        slots.set(calculator, slot);
        if (slot.running) {
          slot.waiting?.resolve(null);
          slot.waiting = job;
        } else {
          slot.running = job;
          if (state === "live") postRequest(job);
          else prefetch(job);
        }
      });
    },

    /** Start afresh after a failure. */
    retry() {
      if (state !== "failed") return;
      restarts = 0;
      startWorker(true, true);
    },
  };
}

async function fetchManifest(url, bypassCache) {
  const response = await fetch(url, { cache: bypassCache ? "reload" : "default" }).catch(() => null);
  if (!response?.ok) throw new Error(`The file ${fileName(url)} could not be fetched.`);
  return response.json().catch(() => {
    throw new Error(`The file ${fileName(url)} is damaged.`);
  });
}

function fileName(url) {
  return new URL(url).pathname.split("/").pop();
}
