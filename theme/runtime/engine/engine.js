// The page's side of the engine: starts the Worker, asks it, and starts it again when it dies.

const RESTARTS = 2; // in a row, without an answer in between
const RESTORED = 20000; // milliseconds in which a snapshot is in memory on any machine

/**
 * @typedef {"idle" | "loading" | "live" | "failed"} State
 * @typedef {{id: number, request: string, needs: string[], resolve: (reply: string | null) => void,
 *   reject: (error: Error) => void}} Job
 */

/**
 * @param {{workerUrl: string, runtimeUrl: string, archives?: Record<string, string[]>,
 *   patience?: number, onState?: (state: State, sentence?: string) => void}} options  absolute URLs
 *   of worker.js, of the bundle's manifest and, by calculator, of what only that one needs; how long
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
  let watch = 0;
  let startedAt = /** @type {number | null} */ (null);
  let timings = {};

  function enter(next, sentence) {
    state = next;
    onState(next, sentence);
  }

  function launch(plain, fresh = false) {
    stop();
    enter("loading");
    const mine = create(), own = [...new Set(Object.values(archives).flat())];
    if (mine === null) return;
    worker = mine;
    const lock = navigator.locks && `wallclock ${crypto.randomUUID()}`;
    manifest(runtimeUrl, fresh).then(
      (start) =>
        worker === mine &&
        mine.postMessage({ start, base: runtimeUrl, archives: own, plain, fresh, lock }),
      (error) => worker === mine && fail(error.message),
    );
    for (const { running } of slots.values()) if (running) fetchAhead(running);
    mine.onmessage = ({ data }) => {
      if (worker !== mine) return;
      if (data.held) navigator.locks.request(lock, () => worker === mine && lost());
      else receive(data);
    };
    mine.onmessageerror = () => worker === mine && died();
    mine.onerror = (event) => {
      event.preventDefault();
      if (worker === mine) died(event.message);
    };
  }

  function create() {
    try {
      return new Worker(workerUrl, { type: "module" });
    } catch (error) {
      console.warn(error);
      fail(`The script ${file(workerUrl)} could not be started.`);
      return null;
    }
  }

  function stop() {
    clearTimeout(watch);
    worker?.terminate();
    worker = null;
  }

  function fail(sentence) {
    stop();
    enter("failed", sentence);
  }

  function died(message) {
    if (message) console.warn(message);
    if (state === "loading") fail(`The script ${file(workerUrl)} could not be loaded.`);
    else lost();
  }

  /** The Worker is gone, or as good as gone. */
  function lost() {
    if (restarts >= RESTARTS) fail("Python stopped again and again on the same request.");
    else {
      restarts += 1;
      launch(true);
    }
  }

  function receive(data) {
    if (data.ready) live(data.timings);
    else if (data.restoring) watch = setTimeout(launch, Math.min(patience, RESTORED), true);
    else if (data.again) launch(true);
    else if (data.failed) fail(data.failed);
    else finish(data);
  }

  function live(measuredThere) {
    timings = measuredThere;
    enter("live");
    guard();
    for (const { running } of slots.values()) if (running) send(running);
  }

  function send({ id, request, needs }) {
    worker.postMessage({ id, request, needs });
    guard();
  }

  /** What a calculator needs is fetched beside Python, not after it. @param {Job} job */
  function fetchAhead({ needs }) {
    if (needs.length) worker?.postMessage({ ahead: needs });
  }

  /** Give a Worker that owes an answer some time; whoever does not come back is dead. */
  function guard() {
    clearTimeout(watch);
    const owing = [...slots.values()].some(({ running }) => running);
    if (owing) watch = setTimeout(died, patience);
  }

  function finish({ id, reply, failure, told }) {
    const slot = [...slots.values()].find(({ running }) => running?.id === id);
    if (!slot) return; // an answer nobody waits for any more
    restarts = 0;
    const { running, waiting } = slot;
    slot.running = waiting;
    slot.waiting = null;
    guard();
    if (waiting) send(waiting);
    if (failure === undefined) running.resolve(reply);
    else running.reject(Object.assign(new Error(failure), { told }));
    measured();
  }

  function measured() {
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
      launch(false);
    },

    /**
     * Ask a calculator; starts the Worker if need be. While one request of a calculator runs, the
     * newest other one waits and those it replaces resolve to null. A request stays until it is
     * answered, over restarts and `retry`. Rejects when the engine itself fails on the request.
     * @returns {Promise<string | null>}
     */
    ask(calculator, request) {
      this.start();
      return new Promise((resolve, reject) => {
        const slot = slots.get(calculator) ?? { running: null, waiting: null };
        const needs = archives[calculator] ?? [];
        const job = { id: (lastId += 1), request, needs, resolve, reject };
        slots.set(calculator, slot);
        if (slot.running) {
          slot.waiting?.resolve(null);
          slot.waiting = job;
        } else {
          slot.running = job;
          if (state === "live") send(job);
          else fetchAhead(job);
        }
      });
    },

    /** Start afresh after a failure. */
    retry() {
      if (state !== "failed") return;
      restarts = 0;
      launch(true, true);
    },
  };
}

async function manifest(url, fresh) {
  const response = await fetch(url, { cache: fresh ? "reload" : "default" }).catch(() => null);
  if (!response?.ok) throw new Error(`The file ${file(url)} could not be fetched.`);
  return response.json().catch(() => {
    throw new Error(`The file ${file(url)} is damaged.`);
  });
}

function file(url) {
  return new URL(url).pathname.split("/").pop();
}
