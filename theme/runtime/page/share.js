/** Sharing: links, citations, reports, downloads. Nothing is sent by itself. */

import { currentView } from "../charts/charts.js";
import { chartSvgFile, sceneSvgFile } from "../charts/svg_file.js";
import { copyText } from "./clipboard.js";
import { uiString } from "./dom.js";
import { downloadPng, downloadText } from "./save.js";
import { embedSnippet } from "./embed_snippet.js";
import { showNotice } from "./status.js";

/**
 * Runs the action of a sharing button.
 *
 * @param {HTMLElement} button
 * @param {(name: string | undefined) => import("../calculator/controls.js").Calculator | undefined} find
 * @param {() => string} permalink
 */
export function share(button, find, permalink) {
  const { dataset } = button;
  if ("copyLink" in dataset) copyText(button, stateLink(button, permalink));
  else if (dataset.copyAs) copyCalculatorAs(button, find, permalink);
  else if (dataset.copyCite) copyText(button, citation(button, dataset.copyCite, permalink));
  else if ("copyCode" in dataset) copyText(button, codeText(button));
  else if ("report" in dataset) reportProblem(button, stateLink(button, permalink));
  else if (dataset.download) downloadFigure(button, find, stateLink(button, permalink));
}

/** Returns the link to a receipt's own state, or else to the page's state. */
function stateLink(button, permalink) {
  const receipt = button.closest("[popover]");
  const hasOwnLink = receipt && !receipt.matches("[data-receipt-for]");
  const link = hasOwnLink ? receipt.querySelector("[data-permalink]") : null;
  return addDate(link ? new URL(link.getAttribute("href") ?? "", location.href).href : permalink());
}

/**
 * Returns the citation of the page, or of a receipt's number, with the link to its state.
 *
 * @param {HTMLElement} button
 * @param {string} kind "text", "bibtex" or "number"
 */
function citation(button, kind, permalink) {
  const [text, entry] = [".cite p", ".cite pre"].map((part) => document.querySelector(part)?.textContent ?? "");
  if (kind === "text") return `${text} ${permalink()}`;
  const link = stateLink(button, permalink), receipt = kind === "number" && button.closest("[data-receipt]");
  const linked = entry.replace(/url = \{.*\}/, () => `url = {${link}}`);
  if (!receipt) return linked;
  const title = `${receiptTitle(receipt)}. `.replace(/[&%$#_]/g, "\\$&");
  const key = receipt.getAttribute("data-receipt")?.replace(/\W/g, "_");
  return linked.replace(",", `_${key},`).replace(/title = \{/, (start) => start + title);
}

/** @param {Element | null} receipt */
function receiptTitle(receipt) {
  const parts = [":scope > :first-child", ".big"].map((part) => receipt?.querySelector(part)?.textContent?.trim());
  return parts.filter(Boolean).join(": ");
}

/** Adds the date to a link with a state, so that a later page can list what has changed since. */
function addDate(address) {
  const url = new URL(address);
  url.searchParams.delete("made");
  if (!url.search) return url.href;
  const rest = url.search, today = new Date().toISOString().slice(0, 10);
  url.search = `${rest}&made=${today}`;
  return url.href;
}

/** Copies the calculator's current state in the button's format. @param {HTMLElement} button */
async function copyCalculatorAs(button, find, permalink) {
  const { copyAs: kind = "", of = "" } = button.dataset;
  if (kind === "embed") {
    const calculator = button.closest("[data-calculator]");
    const title = calculator?.getAttribute("aria-label") ?? of, { search } = new URL(permalink());
    copyText(button, embedSnippet({ name: of, title, search, height: (calculator?.scrollHeight ?? 0) + EMBED_MARGIN }));
    return;
  }
  const text = await find(of)?.requestExtra("copy", kind);
  if (text) copyText(button, kind === "markdown" ? `${text}\n<${permalink()}>\n` : text);
  else showNotice(uiString("uncopied"));
}

/** @param {Element} button */
function codeText(button) {
  return button.parentElement?.querySelector("code")?.textContent ?? "";
}

/** @param {HTMLElement} button @param {string} link */
async function reportProblem(button, link) {
  const title = receiptTitle(button.closest("[data-receipt]"));
  const { repository } = document.body.dataset;
  if (repository) {
    const query = new URLSearchParams({ title, body: `${title}\n\n${link}\n` });
    window.open(`${repository}/issues/new?${query}`, "_blank", "noopener");
  } else if (await copyText(button, `${title}\n${link}`)) {
    showNotice(uiString("report-copied"));
  }
}

const EMBED_MARGIN = 120; // pixels of what stands under a calculator in an iframe

/** How the file's name ends, its type. */
const FILE_TYPES = {
  svg: ["svg", "image/svg+xml"],
  png: ["png", "image/png"],
  csv: ["csv", "text/csv"],
  trace: ["trace.json", "application/json"],
};

/** @param {HTMLElement} button @param {string} link to the state that is shown */
async function downloadFigure(button, find, link) {
  const figure = /** @type {HTMLElement} */ (button.closest("[data-output]"));
  const { of, output = "" } = figure.dataset, format = button.dataset.download ?? "";
  const [ending, type] = FILE_TYPES[format], file = `${of}-${output}.${ending}`;
  try {
    const isPicture = format === "svg" || format === "png";
    const text = await (isPicture ? renderSvgFile(figure, link) : find(of)?.requestExtra(format, output));
    if (!text) throw new Error(output);
    if (format === "png") await downloadPng(file, text);
    else downloadText(file, text, type);
  } catch {
    showNotice(uiString("unsaved"));
  }
}

/** Renders the current figure as an SVG document. @param {HTMLElement} figure @param {string} link */
async function renderSvgFile(figure, link) {
  const title = figure.querySelector("figcaption > strong, .view-title")?.textContent?.trim() ?? "";
  const about = { title, source: document.title, link };
  const drawing = /** @type {SVGSVGElement | null} */ (figure.querySelector("[data-stage] > svg"));
  if (drawing) return sceneSvgFile(drawing, about);
  return chartSvgFile(await currentView(figure), figure.querySelector(".chart-svg")?.getAttribute("aria-label") ?? "",
    about);
}
