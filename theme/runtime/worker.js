// The Worker: starts Python with the engine in it and answers requests, JSON text in and out.
//
// In:  {start: Manifest, base: URL of its folder, plain: boolean}, then {id, request}
// Out: {ready: true, timings} or {failed: sentence}, then {id, reply} or {id, failure: words}
import { failure, hand, load } from "./parts.js";
import { keep, kept, forget } from "./snapshot.js";

const ENGINE = "/wallclock.zip";
const IDLE = 1500; // milliseconds without a request before the snapshot is made

/** @type {(text: string) => string} */
let answer;
let resting = 0;
let snapshotDue = false;
let python;

self.onmessage = ({ data }) => ("start" in data ? begin(data) : respond(data));

async function begin({ start: manifest, base, plain }) {
  try {
    const began = performance.now();
    const parts = load(manifest, base);
    const failed = failure(parts);
    const snapshot = plain ? await forget() : await kept(base, manifest);
    python = await Promise.race([boot(manifest, parts, snapshot), failed]);
    answer = python.pyimport("engine.answer").answer;
    snapshotDue = !plain && snapshot === null;
    const milliseconds = performance.now() - began;
    self.postMessage({ ready: true, timings: { milliseconds, snapshot: snapshot !== null } });
    rest(manifest, base);
    self.rest = () => rest(manifest, base);
  } catch (error) {
    self.postMessage({ failed: sentence(error) });
  }
}
