// Python's memory after a start, kept on the reader's device so that the next visit skips it.
//
// One entry in Cache Storage, under a name that holds everything it depends on; whatever goes
// wrong here, a plain start works. Most of the memory is zeros: only pages that are not are kept.

const PAGE = 4096;
const HEAP = 31457280; // Pyodide's first heap; one that has grown cannot be restored
const CACHE = "wallclock";

/** Return the kept memory for this runtime in this browser, or null. */
export async function kept(base, manifest) {
  try {
    const found = await (await caches.open(CACHE)).match(key(base, manifest));
    return found ? expanded(await found.arrayBuffer()) : null;
  } catch {
    return null;
  }
}

/** Return the memory of this Python, before any calculator is in it, or null. */
export function memoryOf(python) {
  return python._module.HEAPU8.byteLength === HEAP ? python.makeMemorySnapshot() : null;
}

/** Keep the memory; drop what was kept for other versions. */
export async function keep(base, manifest, found) {
  try {
    const memory = packed(found);
    const cache = await caches.open(CACHE);
    const mine = key(base, manifest);
    await forget(base);
    await cache.put(mine, new Response(memory));
  } catch {
    await forget(base); // a full or forbidden store: nothing is kept
  }
}

/** Delete every snapshot of this site; other sites of the same origin keep theirs. */
export async function forget(base) {
  try {
    const cache = await caches.open(CACHE);
    const old = (await cache.keys()).filter(({ url }) => url.startsWith(prefix(base)));
    await Promise.all(old.map((request) => cache.delete(request)));
  } catch {
    // no store, nothing to delete
  }
}

function prefix(base) {
  return new URL("snapshot?", base).href;
}

function key(base, { module, wasm, library, engine }) {
  // The browser counts too: what it offers decides what Pyodide puts into its memory.
  const parts = { module, wasm, library, engine, browser: navigator.userAgent };
  return prefix(base) + new URLSearchParams(parts);
}

/** Layout in 32-bit words: length in bytes, number of pages, their places; then the pages. */
function packed(memory) {
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.byteLength >> 2);
  const step = PAGE >> 2;
  const places = [];
  for (let at = 0; at < words.length; at += step) {
    if (words.subarray(at, at + step).some((word) => word !== 0)) places.push(at / step);
  }
  const head = 8 + 4 * places.length;
  const out = new Uint8Array(head + PAGE * places.length);
  new Uint32Array(out.buffer, 0, 2 + places.length).set([memory.byteLength, places.length, ...places]);
  places.forEach((place, i) =>
    out.set(memory.subarray(place * PAGE, (place + 1) * PAGE), head + i * PAGE),
  );
  return out;
}

function expanded(buffer) {
  const [length, count] = new Uint32Array(buffer, 0, 2);
  const places = new Uint32Array(buffer, 8, count);
  const memory = new Uint8Array(length);
  places.forEach((place, i) => {
    const size = Math.min(PAGE, length - place * PAGE);
    memory.set(new Uint8Array(buffer, 8 + 4 * count + i * PAGE, size), place * PAGE);
  });
  return memory;
}
