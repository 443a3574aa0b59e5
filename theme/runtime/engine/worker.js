// Worker of the engine: starts Python and answers requests, JSON text in and out.
//
// In:  {start: Manifest, base: URL of its folder, archives: [URL] that the page's calculators need,
//      deferred: {module: [URL]} that its import needs, fetched once it is reached,
//      plain: true to ignore and drop the snapshot, fresh: true to fetch what was kept, lock: a name
//      to hold while it lives},
//      then {ahead: [URL]} to fetch what a calculator will need, and {id, request, needs: [URL], deferred}
// Out: {held: true} when it holds the lock, {restoring: true} (all is there, only the snapshot can still
//      hang), then {ready: true, timings}, {failed: sentence} or {again: true} (a bad snapshot: start
//      plain), then {id, reply} or {id, failure: words, told: whether they are for the reader}
import { ReaderError, WASM_TYPE, fetchBytes, firstFailure, pyodideOptions, loadParts, extractArchive,
  fetchUnpacked } from "./runtime_loader.js";
import { deleteSnapshots, createSnapshotWriter, readSnapshot, readWasm, restoreMemory } from "./snapshot.js";

const ROOT = "/wallclock";
const IDLE_TIME = 1500; // milliseconds without a request before the snapshot is made and memory is tidied

/** @type {(request: string, clock: () => number) => string} */
let answerRequest;
const clock = () => performance.now() / 1000;
/** @type {(archive: Uint8Array) => void} */
let addArchive;
/** Archives of calculators, by URL. @type {Map<string, Promise<Uint8Array>>} */
const archives = new Map();
/** URLs of archives whose modules Python can import. @type {Set<string>} */
const addedUrls = new Set();
/** @type {() => void} */
let onIdle = () => {};
let idleTimer = 0;
/** URLs of the archives of modules that are fetched when Python first imports them. @type {Record<string, string[]>} */
let deferredArchives = {};
/** URLs of the archives of the page's own calculators. @type {string[]} */
let ownArchives = [];
/** Whether all requests so far were for defaults of this page. */
let isUntouched = true;
/** Runs Python's garbage collector: a tenth of a second, so only when idle. */
let collectGarbage = () => {};

self.onmessage = ({ data }) => {
  if ("start" in data) startPython(data);
  else if ("ahead" in data) for (const url of data.ahead) fetchArchive(url).catch(() => {}); // said when it is needed
  else respond(data);
};

async function startPython({ start: manifest, base, archives, deferred, plain, fresh, lock }) {
  ownArchives = archives;
  deferredArchives = deferred;
  holdLock(lock);
  const startTime = performance.now();
  const parts = loadParts(manifest, base, fresh, plain ? null : readWasm(base, manifest));
  const partFailure = firstFailure(parts);
  const snapshot = plain ? await deleteSnapshots(base) : await readSnapshot(base, manifest, ownArchives);
  try {
    const python = await Promise.race([bootPython(manifest, base, parts, snapshot), partFailure]);
    const { answer: answerFunction, solving } = python.pyimport("engine.answer");
    answerRequest = answerFunction;
    const writeSnapshot = snapshot === undefined ? null
      : createSnapshotWriter(python, base, manifest, ownArchives, snapshot);
    const refreshRegistry = python.pyimport("engine.core.registry").look_again;
    const gc = python.pyimport("gc");
    gc.disable(); // what a reply leaves behind holds no circles, and goes without a search (test_garbage.py)
    collectGarbage = () => gc.collect();
    addArchive = (archive) => {
      extractArchive(python, archive, ROOT);
      refreshRegistry();
    };
    const milliseconds = performance.now() - startTime;
    const timings = { milliseconds, snapshot: Boolean(snapshot), page: Boolean(snapshot?.page) };
    self.postMessage({ ready: true, timings });
    if (!writeSnapshot) return;
    onIdle = runOnce(() => {
      solving.cache_clear(); // what is kept is what was imported; each visit computes
      writeSnapshot(isUntouched, () => fetchUnpacked(new URL(manifest.wasm, base).href, WASM_TYPE));
    });
  } catch (error) {
    if (snapshot) await deleteSnapshots(base);
    self.postMessage(snapshot ? { again: true } : { failed: startErrorText(error) });
  }
}

async function bootPython(manifest, base, parts, snapshot) {
  if (snapshot) {
    await Promise.all(Object.values(parts));
    self.postMessage({ restoring: true });
  }
  const create = (await parts.module).default;
  const options = {
    ...pyodideOptions(parts, create, snapshot && ((heap) => restoreMemory(heap, snapshot))),
    packageBaseUrl: base,
    lockFileContents: manifest.lock,
    enableRunUntilComplete: false,
    _makeSnapshot: snapshot === null,
  };
  const { loadPyodide } = await parts.loader;
  const python = await loadPyodide(options);
  // Files are not part of the memory: they are written on every start.
  extractArchive(python, await parts.engine, ROOT);
  const { modules, path } = python.pyimport("sys");
  if (snapshot) modules.get("random")?.seed();
  else path.insert(0, ROOT);
  return python;
}

function fetchArchive(url) {
  if (!archives.has(url)) {
    const archive = fetchBytes(url);
    archives.set(url, archive);
    archive.catch(() => archives.delete(url)); // the next request tries again
  }
  return archives.get(url);
}

/** Fetch archives of a calculator and add each to Python once. @param {string[]} urls */
async function mountArchives(urls) {
  const missing = urls.filter((url) => !addedUrls.has(url));
  const contents = await Promise.all(missing.map(fetchArchive));
  missing.forEach((url, i) => {
    if (!addedUrls.has(url)) addArchive(contents[i]);
    addedUrls.add(url);
  });
}

/** Answer a request; one that reaches a deferred module begins again once that is there. */
async function answerWithModules(request) {
  for (;;) {
    try {
      return answerRequest(request, clock);
    } catch (error) {
      const module = /^ModuleNotFoundError: No module named '([\w.]+)'/.exec(errorLine(error))?.[1] ?? "";
      const urls = deferredArchives[module] ?? [];
      if (urls.every((url) => addedUrls.has(url))) throw error;
      await mountArchives(urls);
    }
  }
}

async function respond({ id, request, needs, deferred }) {
  clearTimeout(idleTimer);
  try {
    Object.assign(deferredArchives, deferred);
    await mountArchives(needs);
    self.postMessage({ id, reply: await answerWithModules(request) });
    isUntouched &&= needs.every((url) => ownArchives.includes(url)) && isDefaultRequest(request);
  } catch (error) {
    isUntouched = false;
    if (error.pyodide_fatal_error) {
      // Python is dead: an error outside of any promise tells the page, which restarts it.
      setTimeout(() => {
        throw error;
      });
      return;
    }
    self.postMessage({ id, failure: errorLine(error), told: error instanceof ReaderError });
  }
  idleTimer = setTimeout(() => {
    collectGarbage();
    onIdle();
  }, IDLE_TIME);
}

/** Whether a request asks for the defaults: then nothing in memory is the reader's. */
function isDefaultRequest(request) {
  const { typed, values, slide, nudge } = JSON.parse(request);
  return [typed, values, slide, nudge].every((values) => !values || !Object.keys(values).length);
}

function runOnce(action) {
  return () => {
    onIdle = () => {};
    action();
  };
}

/**
 * Nobody is told when a browser ends a Worker that takes too much memory; but what it held is free
 * again, and the page waits for that.
 * @param {string | undefined} lock
 */
function holdLock(lock) {
  if (!lock) return;
  navigator.locks.request(lock, () => {
    self.postMessage({ held: true });
    return new Promise(() => {});
  });
}

/** Return the reason why Python did not start, for the reader. */
function startErrorText(error) {
  if (error instanceof ReaderError) return error.message;
  console.warn(error);
  return "Python could not be started: a file of it may be damaged.";
}

/** Return an error in one line; a Python traceback ends with the line that matters. */
function errorLine(error) {
  return String(error?.message ?? error).trim().split("\n").pop();
}
