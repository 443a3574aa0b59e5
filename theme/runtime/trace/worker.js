/**
 * The Worker that reads traces: files in, {done, of} on the way, and one document out, as JSON text.
 * Nothing is sent anywhere. In: {files: File[], longest: characters}.
 */

import { createReader, Fault } from "./reader.js";

const EVERY = 100; // milliseconds between two words on the progress
const GZIP = [0x1f, 0x8b];

self.onmessage = async ({ data: { files, longest } }) => {
  try {
    const ranks = [];
    const of = files.reduce((sum, { size }) => sum + size, 0);
    let before = 0, written = 0;
    for (const file of files) {
      const rank = await read(file, (done) => tell(before + done, of, file.name));
      before += file.size;
      written += JSON.stringify(rank).length;
      if (written > longest) throw new Fault("too-many", { file: file.name });
      ranks.push(rank);
    }
    self.postMessage({ text: JSON.stringify({ trace: 1, ranks }) });
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
  let done = 0;
  const counted = file.stream().pipeThrough(new TransformStream({
    transform(chunk, controller) {
      done += chunk.byteLength;
      progress(done);
      controller.enqueue(chunk);
    },
  }));
  const bytes = (packed ? counted.pipeThrough(new DecompressionStream("gzip")) : counted).getReader();
  let size = 0;
  for (;;) {
    const next = await bytes.read().catch(() => null);
    if (next === null) throw new Fault(packed ? "gzip" : "unreadable", { file: file.name, line: reader.line, bytes: size });
    if (next.done) return reader.end();
    size += next.value.byteLength;
    reader.take(next.value);
  }
}
