// Syntax check of JavaScript modules: {name: text} on stdin, [{name, line, message}] of syntax
// errors on stdout. Modules are parsed, never run.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

function isValid(text) {
  try {
    return Boolean(new vm.SourceTextModule(text));
  } catch {
    return false;
  }
}

/** The error of a module; only `node --check` reports its line, for one module at a time. */
function syntaxError([name, text]) {
  const options = ["--check", "--input-type=module", "-"];
  const output = spawnSync(process.execPath, options, { input: text }).stderr.toString();
  return {
    name,
    line: Number(/^\[stdin\]:(\d+)/.exec(output)?.[1] ?? 1),
    message: /^\w*Error: .*/m.exec(output)?.[0] ?? "cannot be read",
  };
}

if (isMainThread) {
  // vm.SourceTextModule needs an option, which can be set for a thread.
  const thread = new Worker(fileURLToPath(import.meta.url), {
    workerData: JSON.parse(readFileSync(0, "utf8")),
    execArgv: ["--experimental-vm-modules", "--no-warnings"],
  });
  thread.once("message", (invalid) => process.stdout.write(JSON.stringify(invalid.map(syntaxError))));
  thread.once("error", (error) => {
    throw error;
  });
} else {
  parentPort.postMessage(Object.entries(workerData).filter(([, text]) => !isValid(text)));
}
