// Python's memory after a start, kept on the reader's device so that the next visit skips it.
//
// In Cache Storage, under names that hold all that they depend on; whatever goes wrong here, a plain
// start works. One entry is Python as it starts for any page. One for each of the last pages is what
// the page's calculators have changed in it: only pages of memory that are not as in the first. And
// one is Python's wasm unpacked, which takes a slow phone longer than to read it.

const PAGE = 4096;
const HEAP = 31457280; // Pyodide's first heap; one that has grown cannot be restored
const CACHE = "wallclock";
const MOST = 4; // pages of the site whose memory is kept, some megabytes each
const LAYOUT = "2"; // of the entries, and of the table of functions that Python's memory points into

/** Opened while the page still fetches what to start. */
const store = (async () => caches.open(CACHE))();
store.catch(() => {}); // said to whom asks for it

/**
 * @typedef {{id: number, state: object, runs: [number, number][], bytes: Uint8Array}} Layer  where
 *   memory differs from zeros or from the start: page and number of pages, and their content; and
 *   what Python holds of JavaScript, as Pyodide writes it
 * @typedef {{start: Layer, page: Layer | null}} Kept
 */

/**
 * Return the kept memory for this runtime in this browser, or null.
 * @param {string[]} archives what the page's calculators need
 * @returns {Promise<Kept | null>}
 */
export async function kept(base, manifest, archives) {
  try {
    const cache = await store;
    const names = [key(base, manifest), key(base, manifest, archives)];
    const [start, page] = await Promise.all(names.map((name) => layer(cache, name)));
    return start && { start, page: page?.id === start.id ? page : null };
  } catch {
    await forget(base);
    return null;
  }
}

/** Return Python's wasm as it was kept, or null. */
export async function keptWasm(base, manifest) {
  try {
    return (await (await store).match(wasmKey(base, manifest))) ?? null;
  } catch {
    return null;
  }
}

async function layer(cache, name) {
  const found = await cache.match(name);
  if (!found) return null;
  const all = new Uint8Array(await found.arrayBuffer());
  const from = 4 + new DataView(all.buffer).getUint32(0, true);
  return { ...JSON.parse(new TextDecoder().decode(all.subarray(4, from))), bytes: all.subarray(from) };
}

/** Write what was kept into the memory of a new Pyodide; return what it needs to know besides. */
export function restored(heap, { start, page }) {
  let at = 0;
  for (const [from, count] of start.runs) {
    heap.fill(0, at * PAGE, from * PAGE); // what the module itself has put there
    at = from + count;
  }
  write(heap, start);
  if (page) write(heap, page);
  return (page ?? start).state;
}

function write(heap, { runs, bytes }) {
  let at = 0;
  for (const [from, count] of runs) heap.set(bytes.subarray(at, (at += count * PAGE)), from * PAGE);
}

/**
 * Return what keeps the memory of a Python that has just started, to be called when it rests: with
 * whether the page's calculators have answered what anybody would have asked, and how to get the wasm.
 * @param {Kept | null} found what it started from
 * @returns {(untouched: boolean, wasm: () => Promise<Response>) => Promise<void>}
 */
export function keeper(python, base, manifest, archives, found) {
  const state = found ? found.start.state : python._api.serializeHiwireState();
  const first = found ? null : memoryOf(python), held = objects(python);
  return async (untouched, wasm) => {
    // What Python has got outside its memory since then could not be given to another one.
    const all = untouched && !found?.page && isSame(held, objects(python));
    const memory = all ? memoryOf(python) : null;
    const then = { ...state, immortalKeys: immortals(python) };
    try {
      const id = first ? await keepStart(base, manifest, first, state) : found?.start.id;
      const before = memory && (first ?? (found && expanded(found)));
      if (before) await keepPage(base, manifest, archives, layered(id, then, memory, before));
      if (id !== undefined) await keepWasm(base, manifest, wasm);
    } catch {
      await forget(base); // a full or forbidden store: nothing is kept
    }
  };
}

/** Return the memory of a Python, or null where it cannot be restored. */
function memoryOf({ _module }) {
  const { HEAPU8 } = _module;
  // What lies above has never been given out: zeros.
  const top = Math.ceil(_module._sbrk(0) / PAGE) * PAGE;
  return HEAPU8.byteLength === HEAP ? HEAPU8.slice(0, top) : null;
}

/**
 * Return what Python holds of JavaScript, and how long its table of functions is: a library that was
 * loaded later has its own there. Places that are free again stand in the list too.
 */
function objects({ _module }) {
  const all = listed((at) => _module.__hiwire_get(at));
  return { all, count: _module._hiwire_num_refs(), functions: _module.wasmTable.length };
}

function isSame(before, now) {
  const counts = before.count === now.count && before.functions === now.functions;
  return counts && before.all.every((one, i) => one === now.all[i]);
}

/** Return the names that Python has given to JavaScript for good, those of its start among them. */
function immortals({ _module }) {
  const all = listed((at) => _module.__hiwire_immortal_get(at));
  return all.slice(1 + all.findLastIndex((one) => typeof one !== "string"));
}

function listed(get) {
  const found = [];
  try {
    for (let at = 0; ; at += 1) found.push(get(at));
  } catch {
    return found; // that was the last
  }
}

function expanded({ start }) {
  const [from, count] = start.runs.at(-1) ?? [0, 0];
  const memory = new Uint8Array((from + count) * PAGE);
  write(memory, start);
  return memory;
}

/** Keep the memory of a start; drop what was kept for other versions. Return its id. */
async function keepStart(base, manifest, memory, state) {
  const [id] = crypto.getRandomValues(new Uint32Array(1));
  const packed = layered(id, state, memory, new Uint8Array(0));
  await forget(base);
  await (await store).put(key(base, manifest), new Response(packed));
  return id;
}

async function keepWasm(base, manifest, wasm) {
  if (await keptWasm(base, manifest)) return;
  await (await store).put(wasmKey(base, manifest), await wasm());
}

/** Keep what a page has changed in it, and forget the pages of long ago. */
async function keepPage(base, manifest, archives, packed) {
  const cache = await store;
  await cache.put(key(base, manifest, archives), new Response(packed));
  const mine = `${key(base, manifest)}&page=`;
  const pages = (await cache.keys()).filter(({ url }) => url.startsWith(mine));
  await Promise.all(pages.slice(0, -MOST).map((request) => cache.delete(request)));
}

/** Delete every snapshot of this site; other sites of the same origin keep theirs. */
export async function forget(base) {
  try {
    const cache = await store;
    const old = (await cache.keys()).filter(({ url }) => url.startsWith(prefix(base)));
    await Promise.all(old.map((request) => cache.delete(request)));
  } catch {
    // no store, nothing to delete
  }
}

function prefix(base) {
  return new URL("snapshot?", base).href;
}

function wasmKey(base, { wasm }) {
  return `${prefix(base)}unpacked=${wasm}`;
}

function key(base, { module, wasm, library, engine }, archives) {
  // The browser counts too: what it offers decides what Pyodide puts into its memory.
  const parts = { module, wasm, library, engine, layout: LAYOUT, browser: navigator.userAgent };
  const names = archives?.map((url) => url.slice(url.lastIndexOf("/") + 1)).sort();
  return prefix(base) + new URLSearchParams({ ...parts, ...(names && { page: names.join() }) });
}

/** The length of a JSON text, the text, then the pages that differ. */
function layered(id, state, memory, before) {
  const runs = differing(words(memory), words(before));
  const head = new TextEncoder().encode(JSON.stringify({ id, state, runs }));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, head.length, true);
  const contents = runs.map(([from, count]) => memory.subarray(from * PAGE, (from + count) * PAGE));
  return new Blob([length, head, ...contents]);
}

function words(memory) {
  return new Uint32Array(memory.buffer, memory.byteOffset, memory.byteLength >> 2);
}

function differing(memory, before) {
  const step = PAGE >> 2;
  /** @type {[number, number][]} */
  const runs = [];
  for (let at = 0; at < memory.length; at += step) {
    let same = at;
    while (same < at + step && memory[same] === (before[same] ?? 0)) same += 1;
    if (same === at + step) continue;
    const last = runs.at(-1), page = at / step;
    if (last && last[0] + last[1] === page) last[1] += 1;
    else runs.push([page, 1]);
  }
  return runs;
}
