/**
 * Worker that parses traces: files in, {done, of} on the way, and one document out, as JSON text.
 * Nothing is sent anywhere. In: {files: File[], longest: characters}.
 */

import { createReader, Fault } from "./reader.js";

const PROGRESS_INTERVAL = 100; // milliseconds between two words on the progress
const GZIP_MAGIC = [0x1f, 0x8b];
const SLICE_BYTES = 1 << 20; // bytes of a file that are taken at a time
const PACKED_SLICE_BYTES = 1 << 15; // likewise of a packed one: what they unpack to may be a thousand times as long

self.onmessage = async ({ data: { files, longest } }) => {
  try {
    const ranks = [];
    const of = files.reduce((sum, { size }) => sum + size, 0);
    let before = 0, written = 0;
    for (const file of files) {
      const rank = JSON.stringify(await readTrace(file, (done) => postProgress(before + done, of, file.name)));
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

let lastProgress = 0;

function postProgress(done, of, name) {
  const now = performance.now();
  if (now - lastProgress < PROGRESS_INTERVAL) return;
  lastProgress = now;
  self.postMessage({ done, of, name });
}

/** @param {File} file @param {(done: number) => void} progress */
async function readTrace(file, progress) {
  const reader = createReader(file.name);
  const start = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const isPacked = GZIP_MAGIC.every((byte, i) => start[i] === byte);
  const size = isPacked ? PACKED_SLICE_BYTES : SLICE_BYTES;
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
  const bytes = (isPacked ? slices.pipeThrough(new DecompressionStream("gzip")) : slices).getReader();
  let unpacked = 0;
  for (;;) {
    const chunk = await bytes.read().catch(() => null);
    if (chunk === null) throw new Fault(isPacked ? "gzip" : "unreadable",
      { file: file.name, line: reader.line, bytes: unpacked });
    if (chunk.done) return reader.end();
    unpacked += chunk.value.byteLength;
    reader.take(chunk.value);
    progress(done);
  }
}
