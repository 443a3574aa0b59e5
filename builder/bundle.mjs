// Starts Pyodide under Node and runs inside.py in it: JSON on stdin, JSON on stdout.
//
// In:  {"library": path of a standard library archive or null for Pyodide's own, "python": text of
//       inside.py, "request": its request}
// Out: what inside.py answers.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const packages = createRequire(process.cwd() + "/");
const { loadPyodide } = await import(pathToFileURL(packages.resolve("pyodide/pyodide.mjs")));
const { library, python, request } = JSON.parse(await text(process.stdin));
const silent = () => {};
const pyodide = await loadPyodide({
  env: { PYTHONHASHSEED: "0" },
  stdout: silent,
  stderr: silent,
  stdLibURL: library,
});
try {
  // What the Worker does with a bug in the engine: the modules that print a traceback count too.
  pyodide.runPython("raise LookupError('a tried failure')");
} catch {
  pyodide.runPython(python);
}
const answer = pyodide.globals.get("run")(JSON.stringify(request));
process.stdout.write(answer);
