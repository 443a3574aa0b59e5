/** Sharing: links, citations, reports, downloads. Nothing is sent by itself. */

import { currentView } from "../charts/charts.js";
import { chartSvgFile, sceneSvgFile } from "../charts/svg_file.js";
import { copyText } from "./clipboard.js";
import { fillPlaceholders, uiString } from "./dom.js";
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
  else if (dataset.citeBibtex) copyText(button, fillPlaceholders(dataset.citeBibtex, { link: permalink() }));
  else if ("citePage" in dataset) copyText(button, `${dataset.citePage} ${permalink()}`);
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
  const receipt = button.closest("[data-receipt]");
  const titleParts = [":scope > :first-child", ".big"].map((part) => receipt?.querySelector(part));
  const title = titleParts.map((part) => part?.textContent?.trim()).filter(Boolean).join(": ");
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
