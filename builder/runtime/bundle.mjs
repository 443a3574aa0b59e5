// Starts Pyodide under Node and runs pyodide_compile.py in it: JSON on stdin, JSON on stdout.
//
// Argument: path of a standard library archive, to start Pyodide before the request arrives;
//           without it, the request names the archive.
// In:  {"library": such a path or null for Pyodide's own, "python": text of pyodide_compile.py,
//      "request": its request, "beside": {path: text} of the modules that it imports, if any};
//      empty input ends the process.
// Out: the reply of pyodide_compile.py.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const packages = createRequire(process.cwd() + "/");
const HOME = "/home/pyodide"; // working directory and import root of Python
const silent = () => {};

async function start(library) {
  const { loadPyodide } = await import(pathToFileURL(packages.resolve("pyodide/pyodide.mjs")));
  return loadPyodide({
    env: { PYTHONHASHSEED: "0" },
    stdout: silent,
    stderr: silent,
    stdLibURL: library,
  });
}

const libraryPath = process.argv[2];
const started = libraryPath && start(libraryPath);
const input = await text(process.stdin);
if (!input) process.exit();
const { library, python, request, beside: modules = {} } = JSON.parse(input);
const pyodide = await (started || start(library));
for (const [path, content] of Object.entries(modules)) {
  pyodide.FS.mkdirTree(`${HOME}/${path.slice(0, path.lastIndexOf("/"))}`);
  pyodide.FS.writeFile(`${HOME}/${path}`, content);
}
try {
  // The Worker reports exceptions of the engine, so the traceback modules have to be loaded too.
  pyodide.runPython("raise LookupError('a tried failure')");
} catch {
  pyodide.runPython(python);
}
const answer = pyodide.globals.get("run")(JSON.stringify(request));
process.stdout.write(answer);
