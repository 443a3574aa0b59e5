// Loader of the runtime's files (Pyodide, standard library, engine), in parallel.
//
// The large parts are compressed at build time, so that a host that compresses nothing sends no
// more bytes; the browser unpacks and compiles the wasm while it arrives.

/**
 * @typedef {{loader: string, module: string, wasm: string, library: string, engine: string,
 *   lock: string}} Manifest  File names beside the manifest, and Pyodide's lock as text.
 */

const WASM_NAME = "pyodide.asm.wasm"; // the name that Pyodide asks for
const LIBRARY_NAME = "library.zip";
export const WASM_TYPE = "application/wasm";

/** An error whose message is a sentence for the reader. */
export class ReaderError extends Error {}

/** Whether files are fetched past the HTTP cache. */
let bypassCache = false;

/** Return a file's content as a response, unpacked; an error is one sentence. */
export async function fetchUnpacked(url, type) {
  const response = await fetchFile(url);
  const body = response.body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(body, { headers: { "content-type": type } });
}

/** Return a file's content unpacked. @param {string} url @returns {Promise<Uint8Array>} */
export async function fetchBytes(url) {
  const response = await fetchUnpacked(url, "application/octet-stream");
  return new Uint8Array(await response.arrayBuffer().catch(() => failDamaged(url)));
}

/**
 * Write an archive's files below a folder of Python's file system: the archive begins with the length
 * of a JSON list of [path, size], the list and then the contents.
 */
export function extractArchive(python, archive, root) {
  const contentStart = 4 + new DataView(archive.buffer, archive.byteOffset).getUint32(0, true);
  let offset = contentStart;
  for (const [path, size] of JSON.parse(new TextDecoder().decode(archive.subarray(4, contentStart)))) {
    const target = `${root}/${path}`;
    python.FS.mkdirTree(target.slice(0, target.lastIndexOf("/")));
    python.FS.writeFile(target, archive.subarray(offset, (offset += size)));
  }
}

/**
 * Return the parts as promises; none is waited for here, so that they load side by side.
 * @param {Manifest} manifest @param {string} base @param {boolean} isRetry after a damaged file
 * @param {Promise<Response | null>} wasm  unpacked, from the cache
 */
export function loadParts(manifest, base, isRetry, wasm) {
  bypassCache = isRetry;
  const file = (name) => new URL(manifest[name], base).href;
  return {
    loader: importScript(file("loader")),
    module: importScript(file("module")),
    wasm: compileWasm(file("wasm"), wasm),
    library: fetchUnpacked(file("library"), "application/zip"),
    engine: fetchBytes(file("engine")),
  };
}

/**
 * Return options that make Pyodide use the loaded parts instead of fetching its own.
 * This replaces two functions of this Worker, in which nothing but Pyodide runs.
 * @param {(settings: object) => Promise<any>} create makes a Pyodide
 * @param {((heap: Uint8Array) => object) | null} restore writes what was kept into its memory
 */
export function pyodideOptions(parts, create, restore) {
  const nativeFetch = self.fetch;
  self.fetch = (url, options) => {
    if (String(url).endsWith(WASM_NAME)) return Promise.resolve(null);
    return String(url).endsWith(LIBRARY_NAME) ? parts.library : nativeFetch.call(self, url, options);
  };
  WebAssembly.instantiateStreaming = async (_, imports) => {
    const module = await parts.wasm;
    const instance = await WebAssembly.instantiate(module, imports);
    wrapFunctions(module, imports.env);
    return { module, instance };
  };
  return {
    indexURL: new URL("./", self.location.href).href,
    stdLibURL: LIBRARY_NAME,
    ...(restore && { _loadSnapshot: new Uint8Array(1) }), // its content comes from elsewhere
    async createPyodideModule(settings) {
      const python = await create(settings);
      if (restore) python.API.restoreSnapshot = () => restore(python.HEAPU8);
      // One import, which is in the memory already or needs no compiler.
      python.API.rawRun = (text) => [restore ? 0 : importModule(python, text.replace("import ", "")), ""];
      return python;
    },
  };
}

/** Import a module into Python; return 0, or another number when it fails. */
function importModule(python, name) {
  const namePointer = python.stringToNewUTF8(name);
  const module = python._PyImport_ImportModule(namePointer);
  python._free(namePointer);
  return module ? 0 : 1;
}

/**
 * Wrap the functions of JavaScript that Python calls by their place in a table, all at once: Pyodide
 * would compile a module for each of them.
 */
function wrapFunctions(module, functions) {
  const types = { i: 127, p: 127, j: 126, f: 125, d: 124, e: 111 };
  const encodeNumber = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...encodeNumber(n >> 7)]);
  const encodeList = (items) => [...encodeNumber(items.length), ...items.flat()];
  const encodeSection = (kind, items) => [kind, ...encodeList(encodeList(items))];
  const encodeName = (text) => encodeList([...new TextEncoder().encode(text)]);
  const encodeTypes = (sig) => encodeList([...sig].map((letter) => types[letter]));
  const names = WebAssembly.Module.imports(module)
    .filter((entry) => entry.module === "GOT.func" && functions[entry.name]?.sig)
    .map((entry) => entry.name);
  const signatures = [...new Set(names.map((name) => functions[name].sig))];
  const bytes = [
    [0, 97, 115, 109, 1, 0, 0, 0],
    encodeSection(1, signatures.map((sig) =>
      [96, ...encodeTypes(sig.slice(1)), ...encodeTypes(sig[0] === "v" ? "" : sig[0])])),
    encodeSection(2, names.map((name) =>
      [...encodeName(""), ...encodeName(name), 0, ...encodeNumber(signatures.indexOf(functions[name].sig))])),
    encodeSection(7, names.map((name, i) => [...encodeName(name), 0, ...encodeNumber(i)])),
  ];
  const wrappers = new WebAssembly.Instance(
    new WebAssembly.Module(new Uint8Array(bytes.flat())),
    { "": functions },
  ).exports;
  for (const name of names) functions[name] = Object.assign(wrappers[name], { sig: functions[name].sig });
}

/** Reject with the first part that fails, in one sentence; never resolve. */
export function firstFailure(parts) {
  return new Promise((_, reject) => Object.values(parts).forEach((part) => part.catch(reject)));
}

async function fetchFile(url) {
  const response = await fetch(url, { cache: bypassCache ? "reload" : "default" }).catch(() => null);
  if (response === null) throw new ReaderError(`The file ${fileName(url)} could not be fetched.`);
  if (!response.ok) {
    throw new ReaderError(`The file ${fileName(url)} could not be fetched: the host says ${response.status}.`);
  }
  return response;
}

async function importScript(url) {
  if (bypassCache) await fetchFile(url); // what was kept of it is replaced
  try {
    return await import(url);
  } catch {
    throw new ReaderError(`The script ${fileName(url)} could not be loaded.`);
  }
}

async function compileWasm(url, cachedWasm) {
  if (typeof WebAssembly !== "object") throw new ReaderError("This browser does not allow WebAssembly.");
  const response = (await cachedWasm) ?? (await fetchUnpacked(url, WASM_TYPE));
  try {
    return await WebAssembly.compileStreaming(response);
  } catch {
    return failDamaged(url);
  }
}

/** @returns {never} */
function failDamaged(url) {
  throw new ReaderError(`The file ${fileName(url)} is damaged.`);
}

function fileName(url) {
  return new URL(url).pathname.split("/").pop();
}
