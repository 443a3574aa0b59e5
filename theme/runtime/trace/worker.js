/**
 * The Worker that reads traces: files in, {done, of} on the way, and one document out, as JSON text.
 * Nothing is sent anywhere. In: {files: File[], longest: characters}.
 */

import { createReader, Fault } from "./reader.js";

const EVERY = 100; // milliseconds between two words on the progress
const GZIP = [0x1f, 0x8b];
const SLICE = 1 << 20; // bytes of a file that are taken at a time
const PACKED = 1 << 15; // likewise of a packed one: what they unpack to may be a thousand times as long

self.onmessage = async ({ data: { files, longest } }) => {
  try {
    const ranks = [];
    const of = files.reduce((sum, { size }) => sum + size, 0);
    let before = 0, written = 0;
    for (const file of files) {
      const rank = JSON.stringify(await read(file, (done) => tell(before + done, of, file.name)));
      before += file.size;
      written += rank.length;
      if (written > longest) throw new Fault("too-many", { file: file.name });
      ranks.push(rank);
    }
    self.postMessage({ text: `{"trace":1,"ranks":[${ranks.join(",")}]}` });
  } catch (error) {
    const fault = error instanceof Fault ? error.parts : { kind: "unreadable", file: files[0]?.name ?? "" };
    if (!(error instanceof Fault)) console.warn(error);
    self.postMessage({ text: JSON.stringify({ trace: 1, fault }) });
  }
};

let last = 0;

function tell(done, of, name) {
  const now = performance.now();
  if (now - last < EVERY) return;
  last = now;
  self.postMessage({ done, of, name });
}

/** @param {File} file @param {(done: number) => void} progress */
async function read(file, progress) {
  const reader = createReader(file.name);
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const packed = GZIP.every((byte, i) => start[i] === byte);
  const size = packed ? PACKED : SLICE;
  let done = 0;
  // Slices of our own: a browser's may be so large that unpacking one takes seconds.
  const slices = new ReadableStream({
    async pull(controller) {
      if (done >= file.size) return controller.close();
      const slice = await file.slice(done, done + size).arrayBuffer();
      done += slice.byteLength;
      controller.enqueue(new Uint8Array(slice));
    },
  }, { highWaterMark: 0 });
  const bytes = (packed ? slices.pipeThrough(new DecompressionStream("gzip")) : slices).getReader();
  let unpacked = 0;
  for (;;) {
    const next = await bytes.read().catch(() => null);
    if (next === null) throw new Fault(packed ? "gzip" : "unreadable", { file: file.name, line: reader.line, bytes: unpacked });
    if (next.done) return reader.end();
    unpacked += next.value.byteLength;
    reader.take(next.value);
    progress(done);
  }
}
