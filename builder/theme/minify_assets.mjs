// Scripts and styles -> the same, joined and made small by esbuild.
//
// In:  {"rooms": the folder of the modules, "paths": theirs in it, "entry": the one of every page,
//       "texts": name -> scripts and styles that are no modules}
// Out: {"modules": path -> text, "texts": name -> text}
//
// What the entry imports is one file with it. What is imported later stays a file of its own under
// its own name, and takes what both need from the entry. A module that none imports (a Worker, the
// script of the page that is not found) runs alone and holds all that it needs.
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { text } from "node:stream/consumers";

const { build, transform } = createRequire(process.cwd() + "/")("esbuild");
const { rooms, paths, entry, texts } = JSON.parse(await text(process.stdin));

const SMALL = { minify: true, target: "es2022", charset: "utf8", logLevel: "silent" };
const JOINED = {
  ...SMALL,
  absWorkingDir: rooms,
  bundle: true,
  format: "esm",
  metafile: true,
  outbase: ".",
  outdir: "out",
  write: false,
};

/** Which modules others import, at once or when they are wanted. */
async function imported() {
  const { metafile } = await build({ ...JOINED, entryPoints: paths });
  const all = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  const later = all.filter(({ kind }) => kind === "dynamic-import");
  return { any: new Set(all.map(({ path }) => path)), later: [...new Set(later.map(({ path }) => path))] };
}

/**
 * esbuild makes a file for every set of entries that share a module. Modules that are imported later
 * need the entry anyway; saying so leaves one set, hence one file, for all that the entry imports.
 */
function afterEntry(modules) {
  const paths = new Set(modules.map((path) => join(rooms, path)));
  const needed = JSON.stringify(join(rooms, entry));
  return {
    name: "after the entry",
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, async ({ path }) =>
        paths.has(path) ? { contents: `${await readFile(path, "utf8")}\nimport ${needed};` } : null,
      );
    },
  };
}

/** Path -> text. */
function written({ outputFiles }) {
  const path = (file) => relative(join(rooms, "out"), file.path).split(sep).join("/");
  return Object.fromEntries(outputFiles.map((file) => [path(file), file.text]));
}

/** The entry with the modules of `later`. */
async function withEntry(later) {
  if (!later.length) return written(await build({ ...JOINED, entryPoints: [entry] }));
  const made = await build({
    ...JOINED,
    entryPoints: [entry, ...later],
    splitting: true,
    chunkNames: "chunk-[hash]",
    plugins: [afterEntry(later)],
  });
  // The entry is now a file that only imports the one with everything in it: that takes its name.
  const { imports } = made.metafile.outputs[`out/${entry}`];
  const whole = imports.find(({ kind }) => kind === "import-statement").path.slice("out/".length);
  const { [entry]: _, [whole]: all, ...others } = written(made);
  const named = Object.entries({ [entry]: all, ...others });
  return Object.fromEntries(named.map(([name, code]) => [name, code.replaceAll(whole, entry)]));
}

async function modules() {
  if (!paths.length) return {};
  const { any, later } = await imported();
  const alone = paths.filter((path) => !any.has(path) && path !== entry);
  return {
    ...(paths.includes(entry) && (await withEntry(later))),
    ...(alone.length && written(await build({ ...JOINED, entryPoints: alone }))),
  };
}

async function small(name, code) {
  const loader = name.endsWith(".css") ? "css" : "js";
  return [name, (await transform(code, { ...SMALL, loader })).code];
}

const slim = await Promise.all(Object.entries(texts).map((one) => small(...one)));
const answer = { modules: await modules(), texts: Object.fromEntries(slim) };
process.stdout.write(JSON.stringify(answer));
