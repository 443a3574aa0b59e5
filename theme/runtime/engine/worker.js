// The Worker: starts Python with the engine in it and answers requests, JSON text in and out.
//
// In:  {start: Manifest, base: URL of its folder, archives: [URL] that the page's calculators need,
//      plain: true to ignore and drop the snapshot, fresh: true to fetch what was kept, lock: a name
//      to hold while it lives},
//      then {ahead: [URL]} to fetch what a calculator will need, and {id, request, needs: [URL]}
// Out: {held: true} when it holds the lock, {restoring: true} (all is there, only the snapshot can still
//      hang), then {ready: true, timings}, {failed: sentence} or {again: true} (a bad snapshot: start
//      plain), then {id, reply} or {id, failure: words, told: whether they are for the reader}
import { Told, WASM_TYPE, bytesOf, failure, hand, load, unpack, unpacked } from "./parts.js";
import { forget, keeper, kept, keptWasm, restored } from "./snapshot.js";

const ROOT = "/wallclock";
const IDLE = 1500; // milliseconds without a request before the snapshot is made and memory is tidied

/** @type {(request: string, clock: () => number) => string} */
let answer;
const clock = () => performance.now() / 1000;
/** @type {(archive: Uint8Array) => void} */
let add;
/** What calculators need, by address. @type {Map<string, Promise<Uint8Array>>} */
const archives = new Map();
/** The addresses whose modules Python can import. @type {Set<string>} */
const added = new Set();
/** @type {() => void} */
let rested = () => {};
let resting = 0;
/** Addresses that the page's own calculators need. @type {string[]} */
let own = [];
/** Whether all that was asked so far is what anybody would ask of this page. */
let untouched = true;
/** Looks for objects that hold one another: a tenth of a second, so never while somebody waits. */
let tidy = () => {};

self.onmessage = ({ data }) => {
  if ("start" in data) begin(data);
  else if ("ahead" in data) for (const url of data.ahead) fetched(url).catch(() => {}); // said when it is needed
  else respond(data);
};

async function begin({ start: manifest, base, archives, plain, fresh, lock }) {
  own = archives;
  hold(lock);
  const began = performance.now();
  const parts = load(manifest, base, fresh, plain ? null : keptWasm(base, manifest));
  const failed = failure(parts);
  const snapshot = plain ? await forget(base) : await kept(base, manifest, own);
  try {
    const python = await Promise.race([boot(manifest, base, parts, snapshot), failed]);
    const { answer: answered, solving } = python.pyimport("engine.answer");
    answer = answered;
    const keep = snapshot === undefined ? null : keeper(python, base, manifest, own, snapshot);
    const lookAgain = python.pyimport("engine.core.registry").look_again;
    const gc = python.pyimport("gc");
    gc.disable(); // what a reply leaves behind holds no circles, and goes without a search (test_garbage.py)
    tidy = () => gc.collect();
    add = (archive) => {
      unpack(python, archive, ROOT);
      lookAgain();
    };
    const milliseconds = performance.now() - began;
    const timings = { milliseconds, snapshot: Boolean(snapshot), page: Boolean(snapshot?.page) };
    self.postMessage({ ready: true, timings });
    if (!keep) return;
    rested = once(() => {
      solving.cache_clear(); // what is kept is what was imported; each visit computes
      keep(untouched, () => unpacked(new URL(manifest.wasm, base).href, WASM_TYPE));
    });
  } catch (error) {
    if (snapshot) await forget(base);
    self.postMessage(snapshot ? { again: true } : { failed: told(error) });
  }
}

async function boot(manifest, base, parts, snapshot) {
  if (snapshot) {
    await Promise.all(Object.values(parts));
    self.postMessage({ restoring: true });
  }
  const create = (await parts.module).default;
  const options = {
    ...hand(parts, create, snapshot && ((heap) => restored(heap, snapshot))),
    packageBaseUrl: base,
    lockFileContents: manifest.lock,
    enableRunUntilComplete: false,
    _makeSnapshot: snapshot === null,
  };
  const { loadPyodide } = await parts.loader;
  const python = await loadPyodide(options);
  // Files are not part of the memory: they are written on every start.
  unpack(python, await parts.engine, ROOT);
  const { modules, path } = python.pyimport("sys");
  if (snapshot) modules.get("random")?.seed();
  else path.insert(0, ROOT);
  return python;
}

function fetched(url) {
  if (!archives.has(url)) {
    const archive = bytesOf(url);
    archives.set(url, archive);
    archive.catch(() => archives.delete(url)); // the next request tries again
  }
  return archives.get(url);
}

/** Give Python the modules of a calculator, each archive once. @param {string[]} urls */
async function mount(urls) {
  const missing = urls.filter((url) => !added.has(url));
  const found = await Promise.all(missing.map(fetched));
  missing.forEach((url, i) => {
    if (!added.has(url)) add(found[i]);
    added.add(url);
  });
}

async function respond({ id, request, needs }) {
  clearTimeout(resting);
  try {
    await mount(needs);
    self.postMessage({ id, reply: answer(request, clock) });
    untouched &&= needs.every((url) => own.includes(url)) && isPlain(request);
  } catch (error) {
    untouched = false;
    if (error.pyodide_fatal_error) {
      // Python is dead: an error outside of any promise tells the page, which restarts it.
      setTimeout(() => {
        throw error;
      });
      return;
    }
    self.postMessage({ id, failure: sentence(error), told: error instanceof Told });
  }
  resting = setTimeout(() => {
    tidy();
    rested();
  }, IDLE);
}

/** Whether a request asks for the defaults: then nothing in memory is the reader's. */
function isPlain(request) {
  const { typed, values, slide, nudge } = JSON.parse(request);
  return [typed, values, slide, nudge].every((given) => !given || !Object.keys(given).length);
}

function once(action) {
  return () => {
    rested = () => {};
    action();
  };
}

/**
 * Nobody is told when a browser ends a Worker that takes too much memory; but what it held is free
 * again, and the page waits for that.
 * @param {string | undefined} lock
 */
function hold(lock) {
  if (!lock) return;
  navigator.locks.request(lock, () => {
    self.postMessage({ held: true });
    return new Promise(() => {});
  });
}

/** Return why Python did not start, for the reader. */
function told(error) {
  if (error instanceof Told) return error.message;
  console.warn(error);
  return "Python could not be started: a file of it may be damaged.";
}

/** Return an error in one line; a Python traceback ends with the line that matters. */
function sentence(error) {
  return String(error?.message ?? error).trim().split("\n").pop();
}
