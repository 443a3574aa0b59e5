// Bundles and minifies scripts and styles with esbuild.
//
// In:  {"rooms": folder of the modules, "paths": paths of the modules in it, "entry": the module
//       that every page loads, "texts": name -> scripts and styles that are not modules}
// Out: {"modules": path -> text, "texts": name -> text}
//
// Static imports of the entry are bundled with it. Dynamically imported modules stay separate files
// under their own names and import shared code from the entry. A module that none imports (a Worker,
// the script of 404.html) is bundled with all its imports.
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { text } from "node:stream/consumers";

const { build, transform } = createRequire(process.cwd() + "/")("esbuild");
const { rooms: folder, paths, entry, texts } = JSON.parse(await text(process.stdin));

const MINIFY = { minify: true, target: "es2022", charset: "utf8", logLevel: "silent" };
const BUNDLE = {
  ...MINIFY,
  absWorkingDir: folder,
  bundle: true,
  format: "esm",
  metafile: true,
  outbase: ".",
  outdir: "out",
  write: false,
};

/** The imported modules: all, and those that are imported dynamically. */
async function importedModules() {
  const { metafile } = await build({ ...BUNDLE, entryPoints: paths });
  const all = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  const later = all.filter(({ kind }) => kind === "dynamic-import");
  return { any: new Set(all.map(({ path }) => path)), later: [...new Set(later.map(({ path }) => path))] };
}

/**
 * esbuild writes a file for every set of entries that share a module. Dynamically imported modules
 * need the entry anyway; making them import it leaves one set, hence one file with all static imports.
 */
function afterEntry(modules) {
  const paths = new Set(modules.map((path) => join(folder, path)));
  const needed = JSON.stringify(join(folder, entry));
  return {
    name: "after the entry",
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, async ({ path }) =>
        paths.has(path) ? { contents: `${await readFile(path, "utf8")}\nimport ${needed};` } : null,
      );
    },
  };
}

/** Path -> text of the output files of a build. */
function outputTexts({ outputFiles }) {
  const path = (file) => relative(join(folder, "out"), file.path).split(sep).join("/");
  return Object.fromEntries(outputFiles.map((file) => [path(file), file.text]));
}

/** The entry bundled with the dynamically imported modules. */
async function bundleEntry(later) {
  if (!later.length) return outputTexts(await build({ ...BUNDLE, entryPoints: [entry] }));
  const result = await build({
    ...BUNDLE,
    entryPoints: [entry, ...later],
    splitting: true,
    chunkNames: "chunk-[hash]",
    plugins: [afterEntry(later)],
  });
  // The entry now only imports the chunk with all code; the chunk takes its name.
  const { imports } = result.metafile.outputs[`out/${entry}`];
  const chunk = imports.find(({ kind }) => kind === "import-statement").path.slice("out/".length);
  const { [entry]: _, [chunk]: all, ...others } = outputTexts(result);
  const named = Object.entries({ [entry]: all, ...others });
  return Object.fromEntries(named.map(([name, code]) => [name, code.replaceAll(chunk, entry)]));
}

async function modules() {
  if (!paths.length) return {};
  const { any, later } = await importedModules();
  const alone = paths.filter((path) => !any.has(path) && path !== entry);
  return {
    ...(paths.includes(entry) && (await bundleEntry(later))),
    ...(alone.length && outputTexts(await build({ ...BUNDLE, entryPoints: alone }))),
  };
}

async function minify(name, code) {
  const loader = name.endsWith(".css") ? "css" : "js";
  return [name, (await transform(code, { ...MINIFY, loader })).code];
}

const minified = await Promise.all(Object.entries(texts).map(([name, code]) => minify(name, code)));
const answer = { modules: await modules(), texts: Object.fromEntries(minified) };
process.stdout.write(JSON.stringify(answer));
