/**
 * A file or a text that a reader drops, chooses or pastes opens the tool that reads it, with it. It is
 * recognized by a few signs of its beginning; what it means, the tool decides.
 */

import { queryAll, fillPlaceholders } from "./dom.js";
import { SNAPSHOT, toolFor } from "./file_signs.js";
import { HANDED, keepFiles } from "./file_handover.js";

const SIGNS_LENGTH = 200_000; // bytes in which a sign has to stand

/** @param {HTMLElement} zone */
function prepareZone(zone) {
  const input = /** @type {HTMLInputElement} */ (zone.querySelector("input[type=file]"));
  const box = /** @type {HTMLTextAreaElement} */ (zone.querySelector("textarea"));
  input.addEventListener("change", () => openTool(zone, [...(input.files ?? [])]));
  box.addEventListener("paste", () => setTimeout(() => openText(zone, box.value)));
  box.addEventListener("change", () => openText(zone, box.value));
  // What was chosen or pasted before this script had come; what a browser puts back is left alone.
  const [visit] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  if (visit?.type !== "navigate") return;
  if (input.files?.length) openTool(zone, [...input.files]);
  else if (document.activeElement !== box) openText(zone, box.value);
}

/** @param {HTMLElement} zone @param {string} text */
function openText(zone, text) {
  if (text.trim()) openTool(zone, [new File([text], "text")]);
}

/** @param {HTMLElement} zone @param {File[]} files */
async function openTool(zone, files) {
  if (!files.length) return;
  const names = files.map(({ name }) => name).join(", ");
  try {
    const starts = await Promise.all(files.map((file) => startOf(file)));
    // Several files of one job, such as a script and its log, are one for who reads configurations.
    const tools = new Set(starts.map(toolFor));
    if (tools.has(SNAPSHOT)) {
      renderStatus(zone, "snapshot", { name: names });
      return;
    }
    const folder = tools.size === 1 ? [...tools][0] : "import";
    const address = new URL(`tools/${folder}/`, new URL(document.body.dataset.root ?? "./", location.href));
    renderStatus(zone, "opening", { name: names, tool: address.pathname });
    if (await keepFiles(folder, files)) location.href = address.href + HANDED;
    else renderStatus(zone, "unkept", { tool: address.pathname });
  } catch (error) {
    console.warn(error);
    renderStatus(zone, "unread", { name: names });
  }
}

/** The beginning of a file, every byte a character. @param {File} file */
async function startOf(file) {
  const bytes = new Uint8Array(await file.slice(0, SIGNS_LENGTH).arrayBuffer());
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

/** @param {HTMLElement} zone @param {string} key @param {Record<string, string>} parts */
function renderStatus(zone, key, parts) {
  const line = zone.querySelector("[data-take-said]");
  if (line) line.textContent = fillPlaceholders(zone.dataset[key] ?? "", parts);
}

const zones = queryAll("[data-take-file]");
for (const zone of zones) prepareZone(zone);
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    const transfer = /** @type {DragEvent} */ (event).dataTransfer;
    if (!transfer?.types.includes("Files")) return;
    event.preventDefault();
    for (const zone of zones) zone.classList.toggle("over", kind === "dragover");
    if (kind === "drop") openTool(zones[0], [...transfer.files]);
  });
}
