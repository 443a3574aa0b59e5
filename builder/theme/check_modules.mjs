// JavaScript modules -> those a browser could not read: {name: text} on stdin, and on stdout
// [{name, line, message}]. They are parsed, never run.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

function isSound(text) {
  try {
    return Boolean(new vm.SourceTextModule(text));
  } catch {
    return false;
  }
}

/** Only Node itself says the line, and it reads one module at a time. */
function fault([name, text]) {
  const options = ["--check", "--input-type=module", "-"];
  const told = spawnSync(process.execPath, options, { input: text }).stderr.toString();
  return {
    name,
    line: Number(/^\[stdin\]:(\d+)/.exec(told)?.[1] ?? 1),
    message: /^\w*Error: .*/m.exec(told)?.[0] ?? "cannot be read",
  };
}

if (isMainThread) {
  // Reading many modules at once is behind an option, which a thread can be given.
  const thread = new Worker(fileURLToPath(import.meta.url), {
    workerData: JSON.parse(readFileSync(0, "utf8")),
    execArgv: ["--experimental-vm-modules", "--no-warnings"],
  });
  thread.once("message", (found) => process.stdout.write(JSON.stringify(found.map(fault))));
  thread.once("error", (error) => {
    throw error;
  });
} else {
  parentPort.postMessage(Object.entries(workerData).filter(([, text]) => !isSound(text)));
}
