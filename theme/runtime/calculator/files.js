/** Files for a text area: chosen or dropped, read in the browser only. */

import { closestTarget, queryAll, uiString } from "../page/dom.js";
import { showNotice } from "../page/status.js";

/** A character takes at most so many bytes: a larger file need not be read. */
const MAX_BYTES_PER_CHARACTER = 4;
/** How a Parquet file begins. */
const PARQUET_MAGIC = "PAR1";

/** @typedef {(name: string | undefined) => import("./controls.js").Calculator | undefined} Find */

/** @param {HTMLInputElement} fileInput @param {Find} find @param {Event} event */
export function readChosenFiles(fileInput, find, event) {
  readFiles([...(fileInput.files ?? [])], fileInput, find, event);
  fileInput.value = ""; // the same file may be chosen again
}

/** Reads the files that another page has handed to this one. @param {Find} find */
export async function readHandedFiles(find) {
  const { HANDED, takeFiles } = await import("../page/file_handover.js");
  const fileInput = /** @type {HTMLInputElement | undefined} */ (queryAll("[data-file]")[0]);
  if (location.hash !== HANDED || !fileInput) return;
  const files = await takeFiles(location.pathname.split("/").filter(Boolean).pop() ?? "");
  history.replaceState(history.state, "", location.pathname + location.search);
  if (files.length) await showArrival(fileInput);
  await readFiles(files, fileInput, find, new Event("change"));
}

/** The page's own numbers are no answer to what was handed: its lab comes into view, dimmed until it answers. */
async function showArrival(fileInput) {
  const field = /** @type {HTMLElement} */ (fileInput.closest("[data-of]"));
  (await import("../page/link_inputs.js")).dimResults(field.dataset.of ?? "");
  field.closest("[data-calculator]")?.scrollIntoView();
}

/** @param {Find} find */
export function listenForDrops(find) {
  for (const kind of ["dragover", "drop"]) {
    document.addEventListener(kind, (event) => {
      const transfer = /** @type {DragEvent} */ (event).dataTransfer;
      const field = closestTarget(event, ".field-text");
      const fileInput = /** @type {HTMLInputElement | null} */ (field?.querySelector("[data-file]") ?? onlyFileInput());
      if (!fileInput || !transfer?.types.includes("Files")) return;
      event.preventDefault();
      if (kind === "drop") readFiles([...transfer.files], fileInput, find, event);
    });
  }
}

/** Where a page asks for files in one place, they may be dropped anywhere on it. */
function onlyFileInput() {
  const fileInputs = queryAll("[data-file]");
  return fileInputs.length === 1 ? fileInputs[0] : null;
}

/** @param {File[]} files @param {HTMLInputElement} fileInput @param {Event} event */
async function readFiles(files, fileInput, find, event) {
  const { file: name = "", longest, range = "" } = fileInput.dataset;
  const field = /** @type {HTMLElement} */ (fileInput.closest("[data-of]"));
  if (fileInput.dataset.reader) {
    if (files.length) (await import("../trace/drop.js")).readTraces(files, fileInput, find, event);
    return;
  }
  const tooLarge = files.find(({ size }) => size > MAX_BYTES_PER_CHARACTER * Number(longest));
  if (tooLarge) showNotice(uiString("too-long", { name: tooLarge.name, range }));
  if (tooLarge || !files.length) return;
  try {
    const text = await joinFiles(files);
    const box = field.querySelector("textarea");
    if (box) box.value = text;
    find(field.dataset.of)?.change({ values: { [name]: text } }, event);
  } catch (error) {
    const kind = error instanceof RangeError ? "no-table" : "unreadable";
    showNotice(uiString(kind, { name: files.map((file) => file.name).join(", ") }));
  }
}

/** Joins files into one text, each under its name. @param {File[]} files */
export async function joinFiles(files) {
  const texts = await Promise.all(files.map(fileText));
  return files.length > 1 ? texts.map((text, i) => addFileHeader(files[i].name, text)).join("\n") : texts[0];
}

/** Returns the text of a file; Parquet becomes CSV, by a module loaded on demand. @param {File} file */
async function fileText(file) {
  const start = await file.slice(0, PARQUET_MAGIC.length).text();
  if (start !== PARQUET_MAGIC) return file.text();
  const { parquetToCsv } = await import("../tables/parquet.js");
  return parquetToCsv(new Uint8Array(await file.arrayBuffer()));
}

/** Several files in one box, each under its name, in the way the engine tells them apart. */
function addFileHeader(name, text) {
  return `--- ${name.replace(/[-=]+/g, " ")} ---\n${text}`;
}
