// Starts Pyodide under Node and runs inside.py in it: JSON on stdin, JSON on stdout.
//
// Told: path of a standard library archive, with which it starts before its request has come;
//       without it, the request names one.
// In:   {"library": such a path or null for Pyodide's own, "python": text of inside.py, "request":
//       its request, "beside": {path: text} of the modules that it imports, if any}; nothing, and it
//       ends without a word.
// Out:  what inside.py answers.
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const packages = createRequire(process.cwd() + "/");
const HOME = "/home/pyodide"; // where Python begins, and imports from
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

const told = process.argv[2];
const ahead = told && start(told);
const given = await text(process.stdin);
if (!given) process.exit();
const { library, python, request, beside = {} } = JSON.parse(given);
const pyodide = await (ahead || start(library));
for (const [path, content] of Object.entries(beside)) {
  pyodide.FS.mkdirTree(`${HOME}/${path.slice(0, path.lastIndexOf("/"))}`);
  pyodide.FS.writeFile(`${HOME}/${path}`, content);
}
try {
  // What the Worker does with a bug in the engine: the modules that print a traceback count too.
  pyodide.runPython("raise LookupError('a tried failure')");
} catch {
  pyodide.runPython(python);
}
const answer = pyodide.globals.get("run")(JSON.stringify(request));
process.stdout.write(answer);
