/**
 * Panel that parses the reader's own configuration. The parsing calculator belongs to another page, is
 * loaded on demand and runs in this page's engine.
 */

import { joinFiles } from "../calculator/files.js";
import { takeJob } from "../calculator/job.js";
import { queryAll, fillPlaceholders, parseJson, elementsOf, uiString } from "./dom.js";
import { writeStorage, readStorage } from "./storage.js";

/** @typedef {import("../calculator/controls.js").Calculator} Calculator */

const dialog = /** @type {HTMLDialogElement} */ (document.querySelector("[data-panel=paste]"));
const element = (/** @type {string} */ name) => /** @type {any} */ (dialog.querySelector(`[data-paste-${name}]`));
const [form, statusLine, keys, pageLink] = ["form", "said", "keys", "whole"].map(element);
const text = /** @type {HTMLTextAreaElement} */ (form.elements.configuration);
const { page: path = "", reader = "", longest = "" } = dialog.dataset;
const readerUrl = new URL(path, new URL(document.body.dataset.root ?? "./", location.href));
/** The box of the page that reads configurations keeps its text under the same name. */
const STORAGE_KEY = `text.${reader}.text`;

/** @type {Calculator} */
let calculator;
/** @type {any} */
let page;
/** What the page of the reader says that it needs. @type {Record<string, string[]> | null} */
let archives = null;

/** @param {Calculator} target which takes the job @param {any} pageCalculators the page's calculators */
export function open(target, pageCalculators) {
  if (!target || dialog.open) return;
  [calculator, page] = [target, pageCalculators];
  element("of").textContent = calculatorTitle();
  pageLink.href = readerUrl.href;
  text.value ||= readStorage(STORAGE_KEY) ?? "";
  renderStatus("");
  keys.replaceChildren();
  dialog.showModal();
  text.focus();
}

dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
form.addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  submitText(event);
});
element("files").addEventListener("change", readFiles);
text.addEventListener("change", () => writeStorage(STORAGE_KEY, text.value));
dialog.addEventListener("close", () => writeStorage(STORAGE_KEY, text.value));

function calculatorTitle() {
  return elementsOf(calculator.name, "[data-calculator]")[0]?.getAttribute("aria-label") ?? calculator.name;
}

/** @param {string} key @param {Record<string, string>} [parts] */
function renderStatus(key, parts = {}) {
  statusLine.textContent = fillPlaceholders(dialog.dataset[key] ?? "", parts);
  text.setAttribute("aria-invalid", String(key === "wrong"));
}

/** @param {Event} event */
async function submitText(event) {
  writeStorage(STORAGE_KEY, text.value);
  renderStatus("reading");
  keys.replaceChildren();
  try {
    archives ??= await fetchArchives();
    const typed = { text: text.value };
    const reply = await page.ask(reader, { typed, only: ["verdict", "keys", "places"], short: true }, archives);
    if (reply) applyReply(reply, event);
  } catch (error) {
    console.warn(error);
    renderStatus("unloaded");
  }
}

/** The addresses of what the reader needs, as its own page has them. */
async function fetchArchives() {
  const response = await fetch(readerUrl);
  if (!response.ok) throw new Error(`${response.status} for ${readerUrl}`);
  const { body } = new DOMParser().parseFromString(await response.text(), "text/html");
  const absolute = (/** @type {string} */ archive) => new URL(archive, readerUrl).href;
  const entries = /** @type {[string, string[]][]} */ (Object.entries(parseJson(body.dataset.archives)));
  return Object.fromEntries(entries.map(([name, paths]) => [name, paths.map(absolute)]));
}

/** @param {any} reply @param {Event} event */
function applyReply({ inputs, outputs }, event) {
  const error = inputs.text.error;
  if (error || !outputs) {
    renderStatus("wrong", { why: error ?? uiString("uncomputed") });
    text.focus();
    return;
  }
  keys.innerHTML = outputs.keys.html; // the engine has escaped what readers wrote
  const result = document.createElement("template");
  result.innerHTML = outputs.places.html;
  const [link] = queryAll("[data-job]", result.content);
  if (!link) {
    renderStatus(outputs.places.html ? "unsaid" : "contradicts", { why: outputs.verdict.sentence });
    return;
  }
  const unapplied = takeJob(link.dataset.job ?? "", calculator.name, page.find, event);
  renderStatus("taken", { title: calculatorTitle(), left: unapplied });
}

/** Files become the text, each under its name, and are read with the next press. @param {Event} event */
async function readFiles(event) {
  const fileInput = /** @type {HTMLInputElement} */ (event.target), files = [...(fileInput.files ?? [])];
  const tooLarge = files.find(({ size }) => size > Number(longest)), names = files.map((file) => file.name).join(", ");
  fileInput.value = "";
  if (tooLarge) renderStatus("tooLarge", { name: tooLarge.name });
  if (tooLarge || !files.length) return;
  try {
    text.value = await joinFiles(files);
    writeStorage(STORAGE_KEY, text.value);
    renderStatus("");
  } catch {
    renderStatus("unreadable", { name: names });
  }
}
