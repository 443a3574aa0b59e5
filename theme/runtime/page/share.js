/** Links, citations, reports and pictures to take away. Nothing is sent by itself. */

import { viewOf } from "../charts/charts.js";
import { chartFile, sceneFile } from "../charts/file.js";
import { copy } from "./clipboard.js";
import { filled, words } from "./dom.js";
import { savePicture, saveText } from "./save.js";
import { snippet } from "./snippet.js";
import { notice } from "./status.js";

/**
 * Does what a button for sharing is for.
 *
 * @param {HTMLElement} button
 * @param {(name: string | undefined) => import("../calculator/controls.js").Calculator | undefined} find
 * @param {() => string} permalink
 */
export function share(button, find, permalink) {
  const { dataset } = button;
  if ("copyLink" in dataset) copy(button, linkOf(button, permalink));
  else if (dataset.copyAs) copyAs(button, find, permalink);
  else if (dataset.citeBibtex) copy(button, filled(dataset.citeBibtex, { link: permalink() }));
  else if ("citePage" in dataset) copy(button, `${dataset.citePage} ${permalink()}`);
  else if ("copyCode" in dataset) copy(button, codeOf(button));
  else if ("report" in dataset) report(button, linkOf(button, permalink));
  else if (dataset.download) save(button, find, linkOf(button, permalink));
}

/** A number that is not live names its own state; all others share the page's. */
function linkOf(button, permalink) {
  const receipt = button.closest("[popover]");
  const own = receipt && !receipt.matches("[data-receipt-for]");
  const link = own ? receipt.querySelector("[data-permalink]") : null;
  return dated(link ? new URL(link.getAttribute("href") ?? "", location.href).href : permalink());
}

/** A state in a link has the day it was made, so that a later page can tell what has changed since. */
function dated(address) {
  const url = new URL(address);
  url.searchParams.delete("made");
  if (!url.search) return url.href;
  const rest = url.search, today = new Date().toISOString().slice(0, 10);
  url.search = `${rest}&made=${today}`;
  return url.href;
}

/** The calculator as it stands, in the form that the button names. @param {HTMLElement} button */
async function copyAs(button, find, permalink) {
  const { copyAs: kind = "", of = "" } = button.dataset;
  if (kind === "embed") {
    const calculator = button.closest("[data-calculator]");
    const title = calculator?.getAttribute("aria-label") ?? of, { search } = new URL(permalink());
    copy(button, snippet({ name: of, title, search, height: (calculator?.scrollHeight ?? 0) + BELOW }));
    return;
  }
  const text = await find(of)?.extra("copy", kind);
  if (text) copy(button, kind === "markdown" ? `${text}\n<${permalink()}>\n` : text);
  else notice(words("uncopied"));
}

/** @param {Element} button */
function codeOf(button) {
  return button.parentElement?.querySelector("code")?.textContent ?? "";
}

/** @param {HTMLElement} button @param {string} link */
async function report(button, link) {
  const receipt = button.closest("[data-receipt]");
  const shown = [":scope > :first-child", ".big"].map((part) => receipt?.querySelector(part));
  const title = shown.map((part) => part?.textContent?.trim()).filter(Boolean).join(": ");
  const { repository } = document.body.dataset;
  if (repository) {
    const query = new URLSearchParams({ title, body: `${title}\n\n${link}\n` });
    window.open(`${repository}/issues/new?${query}`, "_blank", "noopener");
  } else if (await copy(button, `${title}\n${link}`)) {
    notice(words("report-copied"));
  }
}

const BELOW = 120; // pixels of what stands under a calculator in an iframe

/** How the file's name ends, its type. */
const FILES = {
  svg: ["svg", "image/svg+xml"],
  png: ["png", "image/png"],
  csv: ["csv", "text/csv"],
  trace: ["trace.json", "application/json"],
};

/** @param {HTMLElement} button @param {string} link to the state that is shown */
async function save(button, find, link) {
  const figure = /** @type {HTMLElement} */ (button.closest("[data-output]"));
  const { of, output = "" } = figure.dataset, kind = button.dataset.download ?? "";
  const [ending, type] = FILES[kind], file = `${of}-${output}.${ending}`;
  try {
    const drawn = kind === "svg" || kind === "png";
    const text = await (drawn ? pictureOf(figure, link) : find(of)?.extra(kind, output));
    if (!text) throw new Error(output);
    if (kind === "png") await savePicture(file, text);
    else saveText(file, text, type);
  } catch {
    notice(words("unsaved"));
  }
}

/** The figure as an SVG document, as it stands. @param {HTMLElement} figure @param {string} link */
async function pictureOf(figure, link) {
  const title = figure.querySelector("figcaption > strong, .view-title")?.textContent?.trim() ?? "";
  const about = { title, source: document.title, link };
  const drawing = /** @type {SVGSVGElement | null} */ (figure.querySelector("[data-stage] > svg"));
  if (drawing) return sceneFile(drawing, about);
  return chartFile(await viewOf(figure), figure.querySelector(".chart-svg")?.getAttribute("aria-label") ?? "", about);
}
