/**
 * Profiler traces that a reader chooses or drops: parsed by a Worker, passed to the engine as the events
 * that ran on the GPU, sent nowhere. Only on a click is a file posted to a window of Perfetto.
 */

import { queryAll, uiString } from "../page/dom.js";

const PERFETTO = "https://ui.perfetto.dev";
const PING_INTERVAL = 100; // milliseconds between two questions whether the other window is there
const PING_TIMEOUT = 60000;
const ONE_SECOND = 1000;

/** Cancel functions by field. @type {WeakMap<Element, () => void>} */
const cancelByField = new WeakMap();

/**
 * @param {File[]} files @param {HTMLInputElement} fileInput
 * @param {(name: string | undefined) => import("../calculator/controls.js").Calculator | undefined} find
 * @param {Event} event
 */
export function readTraces(files, fileInput, find, event) {
  const field = /** @type {HTMLElement} */ (fileInput.closest("[data-of]"));
  const { file: name = "", longest } = fileInput.dataset;
  stopReading(field);
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  cancelByField.set(field, () => worker.terminate());
  renderProgress(field, 0, uiString("reading-trace", { name: files[0].name }));
  const finish = (/** @type {string} */ text) => {
    stopReading(field);
    renderPerfettoButtons(field, files);
    const calculator = find(field.dataset.of);
    calculator?.change({ values: { [name]: text } }, event);
    if (calculator) showElapsedTime(field, calculator);
  };
  worker.onmessage = ({ data }) => {
    if (data.text) finish(data.text);
    else renderProgress(field, data.done / data.of, uiString("reading-trace", { name: data.name }));
  };
  worker.onerror = () => finish(JSON.stringify({ trace: 1, fault: { kind: "unreadable", file: files[0].name } }));
  worker.postMessage({ files, longest: Number(longest) });
}

/** Shows the elapsed time every second until the engine has replied. */
function showElapsedTime(field, calculator) {
  const timeElement = field.querySelector("[data-reading-time]");
  let seconds = 0;
  renderProgress(field, null, uiString("counting-trace"));
  const timer = setInterval(() => {
    seconds += 1;
    timeElement.textContent = `${seconds} s`;
  }, ONE_SECOND);
  cancelByField.set(field, () => {
    clearInterval(timer);
    timeElement.textContent = "";
  });
  const ownCancel = cancelByField.get(field);
  calculator.whenAtRest(() => cancelByField.get(field) === ownCancel && stopReading(field));
}

/** @param {Element} field */
function stopReading(field) {
  cancelByField.get(field)?.();
  cancelByField.delete(field);
  for (const line of queryAll("[data-reading]", field)) line.hidden = true;
}

/** @param {Element} field @param {number | null} share null: unknown, and nothing that could be stopped */
function renderProgress(field, share, text) {
  const line = field.querySelector("[data-reading]");
  const bar = line.querySelector("progress");
  const button = line.querySelector("button");
  button.hidden = share === null;
  if (line.hidden) {
    line.hidden = false;
    button.disabled = false;
    button.onclick = () => {
      stopReading(field);
      field.querySelector("[data-file]").focus();
    };
  }
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
  const textElement = line.querySelector("[data-reading-text]");
  if (textElement.textContent !== text) textElement.textContent = text;
}

/** Renders a button for each file, which opens it in Perfetto. */
function renderPerfettoButtons(field, files) {
  const line = field.querySelector("[data-perfetto]");
  line.hidden = false;
  const container = line.querySelector("[data-perfetto-files]");
  container.replaceChildren(...files.slice(0, 16).map((file) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = uiString("open-perfetto", { name: file.name });
    button.onclick = () => openInPerfetto(file);
    return button;
  }));
}

/** Perfetto's protocol: ask until the window answers, then post the trace. @param {File} file */
async function openInPerfetto(file) {
  const perfetto = window.open(PERFETTO);
  if (!perfetto) return;
  const pingTimer = setInterval(() => perfetto.postMessage("PING", PERFETTO), PING_INTERVAL);
  const stopPinging = () => {
    clearInterval(pingTimer);
    removeEventListener("message", onAnswer);
  };
  setTimeout(stopPinging, PING_TIMEOUT);
  /** @param {MessageEvent} event */
  async function onAnswer(event) {
    if (event.source !== perfetto || event.origin !== PERFETTO || event.data !== "PONG") return;
    stopPinging();
    const buffer = await file.arrayBuffer();
    perfetto?.postMessage({ perfetto: { buffer, title: file.name, fileName: file.name } }, PERFETTO, [buffer]);
  }
  addEventListener("message", onAnswer);
}
