// The Worker: starts Python with the engine in it and answers requests, JSON text in and out.
//
// In:  {start: Manifest, base: URL of its folder, plain: true to ignore and drop the snapshot},
//      then {id, request}
// Out: {restoring: true} (all is there, only the snapshot can still hang), then {ready: true,
//      timings}, {failed: sentence} or {again: true} (a bad snapshot: start plain), then
//      {id, reply} or {id, failure: words}
import { failure, hand, load } from "./parts.js";
import { forget, keep, kept } from "./snapshot.js";

const ENGINE = "/wallclock.zip";
const IDLE = 1500; // milliseconds without a request before the snapshot is made

/** @type {(request: string) => string} */
let answer;
/** @type {() => void} */
let rested = () => {};
let resting = 0;

self.onmessage = ({ data }) => ("start" in data ? begin(data) : respond(data));

async function begin({ start: manifest, base, plain }) {
  const began = performance.now();
  const parts = load(manifest, base);
  const failed = failure(parts);
  const snapshot = plain ? await forget(base) : await kept(base, manifest);
  try {
    const python = await Promise.race([boot(manifest, base, parts, snapshot), failed]);
    answer = python.pyimport("engine.answer").answer;
    const milliseconds = performance.now() - began;
    self.postMessage({ ready: true, timings: { milliseconds, snapshot: Boolean(snapshot) } });
    if (snapshot === null) rested = once(() => keep(base, manifest, python));
  } catch (error) {
    if (snapshot) await forget(base);
    self.postMessage(snapshot ? { again: true } : { failed: sentence(error) });
  }
}

async function boot(manifest, base, parts, snapshot) {
  if (snapshot) {
    await Promise.all(Object.values(parts));
    self.postMessage({ restoring: true });
  }
  const options = {
    ...hand(parts),
    packageBaseUrl: base,
    lockFileContents: manifest.lock,
    createPyodideModule: (await parts.module).default,
    enableRunUntilComplete: false,
    ...(snapshot ? { _loadSnapshot: snapshot } : { _makeSnapshot: snapshot === null }),
  };
  const { loadPyodide } = await parts.loader;
  const python = await loadPyodide(options);
  // Files are not part of the memory: the archive is written on every start.
  python.FS.writeFile(ENGINE, await parts.engine);
  if (snapshot) python.pyimport("random").seed();
  else python.pyimport("sys").path.insert(0, ENGINE);
  return python;
}

function respond({ id, request }) {
  clearTimeout(resting);
  try {
    self.postMessage({ id, reply: answer(request) });
  } catch (error) {
    if (error.pyodide_fatal_error) throw error; // Python is dead: the page sees it and restarts
    self.postMessage({ id, failure: sentence(error) });
  }
  resting = setTimeout(() => rested(), IDLE);
}

function once(action) {
  return () => {
    rested = () => {};
    action();
  };
}

/** Return an error in one line; a Python traceback ends with the line that matters. */
function sentence(error) {
  return String(error?.message ?? error).trim().split("\n").pop();
}
