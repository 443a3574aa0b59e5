// The parts of the runtime, loaded at once and given to Pyodide in its own way.
//
// The large parts are compressed at build time, so that a host that compresses nothing sends no
// more bytes; the browser unpacks and compiles the wasm while it arrives.

/**
 * @typedef {{loader: string, module: string, wasm: string, library: string, engine: string,
 *   lock: string}} Manifest  File names beside the manifest, and Pyodide's lock as text.
 */

const WASM = "pyodide.asm.wasm"; // the name that Pyodide asks for
const LIBRARY = "library.zip";
export const WASM_TYPE = "application/wasm";

/** An error whose message is a sentence for the reader. */
export class Told extends Error {}

/** Whether files come from the host, whatever was kept of them. */
let fresh = false;

/** Return a file's content as a response, unpacked; an error is one sentence. */
export async function unpacked(url, type) {
  const response = await fetched(url);
  const body = response.body.pipeThrough(new DecompressionStream("gzip"));
  return new Response(body, { headers: { "content-type": type } });
}

/** Return a file's content unpacked. @param {string} url @returns {Promise<Uint8Array>} */
export async function bytesOf(url) {
  const response = await unpacked(url, "application/octet-stream");
  return new Uint8Array(await response.arrayBuffer().catch(() => damaged(url)));
}

/**
 * Write an archive's files below a folder of Python's file system: the archive begins with the length
 * of a JSON list of [path, size], the list and then the contents.
 */
export function unpack(python, archive, root) {
  const from = 4 + new DataView(archive.buffer, archive.byteOffset).getUint32(0, true);
  let at = from;
  for (const [path, size] of JSON.parse(new TextDecoder().decode(archive.subarray(4, from)))) {
    const target = `${root}/${path}`;
    python.FS.mkdirTree(target.slice(0, target.lastIndexOf("/")));
    python.FS.writeFile(target, archive.subarray(at, (at += size)));
  }
}

/**
 * Return the parts as promises; none is waited for here, so that they load side by side.
 * @param {Manifest} manifest @param {string} base @param {boolean} anew after a damaged file
 * @param {Promise<Response | null>} wasm  as it was kept unpacked
 */
export function load(manifest, base, anew, wasm) {
  fresh = anew;
  const file = (name) => new URL(manifest[name], base).href;
  return {
    loader: script(file("loader")),
    module: script(file("module")),
    wasm: compiled(file("wasm"), wasm),
    library: unpacked(file("library"), "application/zip"),
    engine: bytesOf(file("engine")),
  };
}

/**
 * Let Pyodide take the parts instead of fetching its own; what it asks for by name is handed over.
 * This replaces two functions of this Worker, in which nothing but Pyodide runs.
 * @param {(settings: object) => Promise<any>} create makes a Pyodide
 * @param {((heap: Uint8Array) => object) | null} restore writes what was kept into its memory
 */
export function hand(parts, create, restore) {
  const native = self.fetch;
  self.fetch = (url, options) => {
    if (String(url).endsWith(WASM)) return Promise.resolve(null);
    return String(url).endsWith(LIBRARY) ? parts.library : native.call(self, url, options);
  };
  WebAssembly.instantiateStreaming = async (_, imports) => {
    const module = await parts.wasm;
    const instance = await WebAssembly.instantiate(module, imports);
    wrap(module, imports.env);
    return { module, instance };
  };
  return {
    indexURL: new URL("./", self.location.href).href,
    stdLibURL: LIBRARY,
    ...(restore && { _loadSnapshot: new Uint8Array(1) }), // its content comes from elsewhere
    async createPyodideModule(settings) {
      const made = await create(settings);
      if (restore) made.API.restoreSnapshot = () => restore(made.HEAPU8);
      // One import, which is in the memory already or needs no compiler.
      made.API.rawRun = (text) => [restore ? 0 : imported(made, text.replace("import ", "")), ""];
      return made;
    },
  };
}

/** Import a module into Python; return 0, or another number when it fails. */
function imported(made, name) {
  const text = made.stringToNewUTF8(name);
  const found = made._PyImport_ImportModule(text);
  made._free(text);
  return found ? 0 : 1;
}

/**
 * Wrap the functions of JavaScript that Python calls by their place in a table, all at once: Pyodide
 * would compile a module for each of them.
 */
function wrap(module, functions) {
  const types = { i: 127, p: 127, j: 126, f: 125, d: 124, e: 111 };
  const number = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...number(n >> 7)]);
  const list = (items) => [...number(items.length), ...items.flat()];
  const section = (kind, items) => [kind, ...list(list(items))];
  const name = (text) => list([...new TextEncoder().encode(text)]);
  const kinds = (sig) => list([...sig].map((letter) => types[letter]));
  const names = WebAssembly.Module.imports(module)
    .filter((one) => one.module === "GOT.func" && functions[one.name]?.sig)
    .map((one) => one.name);
  const sigs = [...new Set(names.map((one) => functions[one].sig))];
  const bytes = [
    [0, 97, 115, 109, 1, 0, 0, 0],
    section(1, sigs.map((sig) => [96, ...kinds(sig.slice(1)), ...kinds(sig[0] === "v" ? "" : sig[0])])),
    section(2, names.map((one) => [...name(""), ...name(one), 0, ...number(sigs.indexOf(functions[one].sig))])),
    section(7, names.map((one, i) => [...name(one), 0, ...number(i)])),
  ];
  const wrapped = new WebAssembly.Instance(
    new WebAssembly.Module(new Uint8Array(bytes.flat())),
    { "": functions },
  ).exports;
  for (const one of names) functions[one] = Object.assign(wrapped[one], { sig: functions[one].sig });
}

/** Reject with the first part that fails, in one sentence; never resolve. */
export function failure(parts) {
  return new Promise((_, reject) => Object.values(parts).forEach((part) => part.catch(reject)));
}

async function fetched(url) {
  const response = await fetch(url, { cache: fresh ? "reload" : "default" }).catch(() => null);
  if (response === null) throw new Told(`The file ${name(url)} could not be fetched.`);
  if (!response.ok) {
    throw new Told(`The file ${name(url)} could not be fetched: the host says ${response.status}.`);
  }
  return response;
}

async function script(url) {
  if (fresh) await fetched(url); // what was kept of it is replaced
  try {
    return await import(url);
  } catch {
    throw new Told(`The script ${name(url)} could not be loaded.`);
  }
}

async function compiled(url, kept) {
  if (typeof WebAssembly !== "object") throw new Told("This browser does not allow WebAssembly.");
  const response = (await kept) ?? (await unpacked(url, WASM_TYPE));
  try {
    return await WebAssembly.compileStreaming(response);
  } catch {
    return damaged(url);
  }
}

/** @returns {never} */
function damaged(url) {
  throw new Told(`The file ${name(url)} is damaged.`);
}

function name(url) {
  return new URL(url).pathname.split("/").pop();
}
