// Snapshots of Python's memory after a start, cached so that the next visit skips the start.
//
// In Cache Storage, under names that hold all that they depend on; whatever goes wrong here, a plain
// start works. One entry is Python as it starts for any page. One for each of the last pages is what
// the page's calculators have changed in it: only pages of memory that are not as in the first. And
// one is Python's wasm unpacked, which takes a slow phone longer than to read it.

const PAGE_SIZE = 4096;
const HEAP_SIZE = 31457280; // Pyodide's first heap; one that has grown cannot be restored
const CACHE_NAME = "wallclock";
const MAX_PAGES = 4; // pages of the site whose memory is kept, some megabytes each
const LAYOUT_VERSION = "2"; // of the entries, and of the table of functions that Python's memory points into

/** Opened while the page still fetches what to start. */
const cacheOpened = (async () => caches.open(CACHE_NAME))();
cacheOpened.catch(() => {}); // said to whom asks for it

/**
 * @typedef {{id: number, state: object, runs: [number, number][], bytes: Uint8Array}} Layer  where
 *   memory differs from zeros or from the start: page and number of pages, and their content; and
 *   what Python holds of JavaScript, as Pyodide writes it
 * @typedef {{start: Layer, page: Layer | null}} Snapshot
 */

/**
 * Return the cached snapshot for this runtime in this browser, or null.
 * @param {string[]} archives what the page's calculators need
 * @returns {Promise<Snapshot | null>}
 */
export async function readSnapshot(base, manifest, archives) {
  try {
    const cache = await cacheOpened;
    const names = [snapshotKey(base, manifest), snapshotKey(base, manifest, archives)];
    const [start, page] = await Promise.all(names.map((name) => readLayer(cache, name)));
    return start && { start, page: page?.id === start.id ? page : null };
  } catch {
    await deleteSnapshots(base);
    return null;
  }
}

/** Return the cached, unpacked wasm of Python, or null. */
export async function readWasm(base, manifest) {
  try {
    return (await (await cacheOpened).match(wasmKey(base, manifest))) ?? null;
  } catch {
    return null;
  }
}

async function readLayer(cache, name) {
  const response = await cache.match(name);
  if (!response) return null;
  const bytes = new Uint8Array(await response.arrayBuffer());
  const contentStart = 4 + new DataView(bytes.buffer).getUint32(0, true);
  return { ...JSON.parse(new TextDecoder().decode(bytes.subarray(4, contentStart))), bytes: bytes.subarray(contentStart) };
}

/** Write a snapshot into the memory of a new Pyodide; return the state of its JavaScript objects. */
export function restoreMemory(heap, { start, page }) {
  let written = 0;
  for (const [firstPage, count] of start.runs) {
    heap.fill(0, written * PAGE_SIZE, firstPage * PAGE_SIZE); // what the module itself has put there
    written = firstPage + count;
  }
  writeLayer(heap, start);
  if (page) writeLayer(heap, page);
  return (page ?? start).state;
}

function writeLayer(heap, { runs, bytes }) {
  let offset = 0;
  for (const [firstPage, count] of runs)
    heap.set(bytes.subarray(offset, (offset += count * PAGE_SIZE)), firstPage * PAGE_SIZE);
}

/**
 * Return a function that caches the memory of a Python that has just started, to be called when it is
 * idle, with whether only default requests were answered, and how to get the wasm.
 * @param {Snapshot | null} snapshot snapshot that it started from
 * @returns {(untouched: boolean, wasm: () => Promise<Response>) => Promise<void>}
 */
export function createSnapshotWriter(python, base, manifest, archives, snapshot) {
  const state = snapshot ? snapshot.start.state : python._api.serializeHiwireState();
  const startMemory = snapshot ? null : copyMemory(python), startObjects = listObjects(python);
  return async (untouched, wasm) => {
    // What Python has got outside its memory since then could not be given to another one.
    const isStorable = untouched && !snapshot?.page && isSameObjects(startObjects, listObjects(python));
    const memory = isStorable ? copyMemory(python) : null;
    const pageState = { ...state, immortalKeys: listImmortals(python) };
    try {
      const id = startMemory ? await storeStart(base, manifest, startMemory, state) : snapshot?.start.id;
      const baseMemory = memory && (startMemory ?? (snapshot && expandMemory(snapshot)));
      if (baseMemory) await storePage(base, manifest, archives, packLayer(id, pageState, memory, baseMemory));
      if (id !== undefined) await storeWasm(base, manifest, wasm);
    } catch {
      await deleteSnapshots(base); // a full or forbidden store: nothing is kept
    }
  };
}

/** Return the memory of a Python, or null where it cannot be restored. */
function copyMemory({ _module }) {
  const { HEAPU8 } = _module;
  // What lies above has never been given out: zeros.
  const end = Math.ceil(_module._sbrk(0) / PAGE_SIZE) * PAGE_SIZE;
  return HEAPU8.byteLength === HEAP_SIZE ? HEAPU8.slice(0, end) : null;
}

/**
 * Return what Python holds of JavaScript, and how long its table of functions is: a library that was
 * loaded later has its own there. Places that are free again stand in the list too.
 */
function listObjects({ _module }) {
  const objects = collectUntilError((at) => _module.__hiwire_get(at));
  return { all: objects, count: _module._hiwire_num_refs(), functions: _module.wasmTable.length };
}

function isSameObjects(before, after) {
  const counts = before.count === after.count && before.functions === after.functions;
  return counts && before.all.every((object, i) => object === after.all[i]);
}

/** Return the names that Python has given to JavaScript for good, those of its start among them. */
function listImmortals({ _module }) {
  const names = collectUntilError((at) => _module.__hiwire_immortal_get(at));
  return names.slice(1 + names.findLastIndex((name) => typeof name !== "string"));
}

function collectUntilError(get) {
  const items = [];
  try {
    for (let index = 0; ; index += 1) items.push(get(index));
  } catch {
    return items; // that was the last
  }
}

function expandMemory({ start }) {
  const [firstPage, count] = start.runs.at(-1) ?? [0, 0];
  const memory = new Uint8Array((firstPage + count) * PAGE_SIZE);
  writeLayer(memory, start);
  return memory;
}

/** Keep the memory of a start; drop what was kept for other versions. Return its id. */
async function storeStart(base, manifest, memory, state) {
  const [id] = crypto.getRandomValues(new Uint32Array(1));
  const layer = packLayer(id, state, memory, new Uint8Array(0));
  await deleteSnapshots(base);
  await (await cacheOpened).put(snapshotKey(base, manifest), new Response(layer));
  return id;
}

async function storeWasm(base, manifest, wasm) {
  if (await readWasm(base, manifest)) return;
  await (await cacheOpened).put(wasmKey(base, manifest), await wasm());
}

/** Keep what a page has changed in it, and forget the pages of long ago. */
async function storePage(base, manifest, archives, layer) {
  const cache = await cacheOpened;
  await cache.put(snapshotKey(base, manifest, archives), new Response(layer));
  const prefix = `${snapshotKey(base, manifest)}&page=`;
  const pages = (await cache.keys()).filter(({ url }) => url.startsWith(prefix));
  await Promise.all(pages.slice(0, -MAX_PAGES).map((request) => cache.delete(request)));
}

/** Delete every snapshot of this site; other sites of the same origin keep theirs. */
export async function deleteSnapshots(base) {
  try {
    const cache = await cacheOpened;
    const requests = (await cache.keys()).filter(({ url }) => url.startsWith(keyPrefix(base)));
    await Promise.all(requests.map((request) => cache.delete(request)));
  } catch {
    // no store, nothing to delete
  }
}

function keyPrefix(base) {
  return new URL("snapshot?", base).href;
}

function wasmKey(base, { wasm }) {
  return `${keyPrefix(base)}unpacked=${wasm}`;
}

function snapshotKey(base, { module, wasm, library, engine }, archives) {
  // The browser counts too: what it offers decides what Pyodide puts into its memory.
  const parts = { module, wasm, library, engine, layout: LAYOUT_VERSION, browser: navigator.userAgent };
  const names = archives?.map((url) => url.slice(url.lastIndexOf("/") + 1)).sort();
  return keyPrefix(base) + new URLSearchParams({ ...parts, ...(names && { page: names.join() }) });
}

/** The length of a JSON text, the text, then the pages that differ. */
function packLayer(id, state, memory, baseMemory) {
  const runs = changedRuns(asWords(memory), asWords(baseMemory));
  const header = new TextEncoder().encode(JSON.stringify({ id, state, runs }));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, header.length, true);
  const contents = runs.map(([from, count]) => memory.subarray(from * PAGE_SIZE, (from + count) * PAGE_SIZE));
  return new Blob([length, header, ...contents]);
}

function asWords(memory) {
  return new Uint32Array(memory.buffer, memory.byteOffset, memory.byteLength >> 2);
}

function changedRuns(memory, baseMemory) {
  const wordsPerPage = PAGE_SIZE >> 2;
  /** @type {[number, number][]} */
  const runs = [];
  for (let offset = 0; offset < memory.length; offset += wordsPerPage) {
    let equalEnd = offset;
    while (equalEnd < offset + wordsPerPage && memory[equalEnd] === (baseMemory[equalEnd] ?? 0)) equalEnd += 1;
    if (equalEnd === offset + wordsPerPage) continue;
    const last = runs.at(-1), page = offset / wordsPerPage;
    if (last && last[0] + last[1] === page) last[1] += 1;
    else runs.push([page, 1]);
  }
  return runs;
}
