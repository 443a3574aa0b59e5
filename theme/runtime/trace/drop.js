/**
 * Traces that a reader chooses or drops: read by a Worker of this page, handed to the engine as what
 * ran on the GPU, sent nowhere. On a click, and only then, a window of Perfetto's gets the file.
 */

import { all, words } from "../page/dom.js";

const PERFETTO = "https://ui.perfetto.dev";
const KNOCK = 100; // milliseconds between two questions whether the other window is there
const PATIENCE = 60000;
const SECOND = 1000;

/** What ends the work for a field, until it is done. @type {WeakMap<Element, () => void>} */
const running = new WeakMap();

/**
 * @param {File[]} files @param {HTMLInputElement} chooser
 * @param {(name: string | undefined) => import("../calculator/controls.js").Calculator | undefined} find
 * @param {Event} event
 */
export function readTraces(files, chooser, find, event) {
  const field = /** @type {HTMLElement} */ (chooser.closest("[data-of]"));
  const { file: name = "", longest } = chooser.dataset;
  stop(field);
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  running.set(field, () => worker.terminate());
  show(field, 0, words("reading-trace", { name: files[0].name }));
  const done = (/** @type {string} */ text) => {
    stop(field);
    offer(field, files);
    const calculator = find(field.dataset.of);
    calculator?.change({ values: { [name]: text } }, event);
    if (calculator) wait(field, calculator);
  };
  worker.onmessage = ({ data }) => {
    if (data.text) done(data.text);
    else show(field, data.done / data.of, words("reading-trace", { name: data.name }));
  };
  worker.onerror = () => done(JSON.stringify({ trace: 1, fault: { kind: "unreadable", file: files[0].name } }));
  worker.postMessage({ files, longest: Number(longest) });
}

/** Until the engine has answered, say every second for how long it has been at work: it tells no share. */
function wait(field, calculator) {
  const clock = field.querySelector("[data-reading-time]");
  let seconds = 0;
  show(field, null, words("counting-trace"));
  const ticking = setInterval(() => {
    seconds += 1;
    clock.textContent = `${seconds} s`;
  }, SECOND);
  running.set(field, () => {
    clearInterval(ticking);
    clock.textContent = "";
  });
  const mine = running.get(field);
  calculator.atRest(() => running.get(field) === mine && stop(field));
}

/** @param {Element} field */
function stop(field) {
  running.get(field)?.();
  running.delete(field);
  for (const line of all("[data-reading]", field)) line.hidden = true;
}

/** @param {Element} field @param {number | null} share null: unknown, and nothing that could be stopped */
function show(field, share, text) {
  const line = field.querySelector("[data-reading]");
  const bar = line.querySelector("progress");
  const button = line.querySelector("button");
  button.hidden = share === null;
  if (line.hidden) {
    line.hidden = false;
    button.disabled = false;
    button.onclick = () => {
      stop(field);
      field.querySelector("[data-file]").focus();
    };
  }
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
  const place = line.querySelector("[data-reading-text]");
  if (place.textContent !== text) place.textContent = text;
}

/** A button for each file: only a click opens Perfetto's window, and gives it that file alone. */
function offer(field, files) {
  const line = field.querySelector("[data-perfetto]");
  line.hidden = false;
  const place = line.querySelector("[data-perfetto-files]");
  place.replaceChildren(...files.slice(0, 16).map((file) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words("open-perfetto", { name: file.name });
    button.onclick = () => hand(file);
    return button;
  }));
}

/** Perfetto's protocol: ask until the window answers, then post the trace. @param {File} file */
async function hand(file) {
  const other = window.open(PERFETTO);
  if (!other) return;
  const knock = setInterval(() => other.postMessage("PING", PERFETTO), KNOCK);
  const end = () => {
    clearInterval(knock);
    removeEventListener("message", answer);
  };
  setTimeout(end, PATIENCE);
  /** @param {MessageEvent} event */
  async function answer(event) {
    if (event.source !== other || event.origin !== PERFETTO || event.data !== "PONG") return;
    end();
    const buffer = await file.arrayBuffer();
    other?.postMessage({ perfetto: { buffer, title: file.name, fileName: file.name } }, PERFETTO, [buffer]);
  }
  addEventListener("message", answer);
}
