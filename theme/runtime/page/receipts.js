/**
 * Receipts page of this page: loaded when a receipt is opened or a calculator is live. Receipts become
 * popovers, and the links to them buttons. It also holds definitions of terms, folded content, options
 * of selects, values of presets and the stops of guesses.
 */

import { restoreDeferred } from "./deferred_content.js";
import { yieldToEvents } from "./yield.js";
import { queryAll, clearElementCache, parseJson } from "./dom.js";

/** @type {Promise<void> | undefined} */
let loading;
/** @type {WeakMap<Element, HTMLElement>} */
const buttons = new WeakMap();

/** Loads the receipts page once; after a failure, the next use tries again. */
export function loadReceipts() {
  loading ??= fetchReceipts();
  loading.catch(() => (loading = undefined));
  return loading;
}

/** @param {HTMLAnchorElement} link of a number or a term */
export async function openReceipt(link) {
  try {
    await loadReceipts();
  } catch {
    location.assign(link.href);
    return;
  }
  buttons.get(link)?.click();
}

async function fetchReceipts() {
  const { receipts } = document.body.dataset;
  if (!receipts) return;
  const response = await fetch(receipts);
  if (!response.ok) throw new Error(`${receipts}: ${response.status}`);
  const text = await response.text();
  await yieldToEvents();
  const receiptsPage = restoreDeferred(text);
  await yieldToEvents();
  await Promise.all(queryAll("link[rel=stylesheet]", receiptsPage).map((link) => addStyleSheet(link, response.url)));
  for (const receipt of queryAll(".receipt", receiptsPage)) addCloseButton(receipt);
  for (const popover of queryAll(".receipt, .definition", receiptsPage)) addPopover(popover);
  const templates = "template[data-equation-template], template[data-tex-template], [data-stops]";
  document.body.append(...queryAll(templates, receiptsPage));
  for (const options of queryAll("template[data-options]", receiptsPage))
    fillSelects(/** @type {HTMLTemplateElement} */ (options));
  const labels = parseJson(receiptsPage.querySelector("[data-cite-labels]")?.textContent ?? "") ?? {};
  for (const [key, label] of Object.entries(labels)) {
    document.getElementById(`ref-${key}`)?.setAttribute("data-cite-label", label);
  }
  document.body.append(...queryAll("[data-rulers], [data-finds]", receiptsPage));
  for (const { dataset, textContent } of queryAll("[data-presets]", receiptsPage)) {
    const buttons = queryAll(`[data-preset][data-fresh][data-of="${dataset.presets}"]`);
    const presets = parseJson(textContent ?? "");
    buttons.forEach((button, index) => (button.dataset.preset = JSON.stringify(presets[index % presets.length])));
  }
  await yieldToEvents();
  for (const link of queryAll("a:is(.number, .term)")) replaceWithButton(/** @type {HTMLAnchorElement} */ (link));
  clearElementCache();
}

/** Adds a style sheet that this page lacks. @param {Element} link @param {string} baseUrl its page */
function addStyleSheet(link, baseUrl) {
  const { href } = new URL(link.getAttribute("href") ?? "", baseUrl);
  if ([...document.styleSheets].some((loaded) => loaded.href === href)) return;
  const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  const applied = new Promise((resolve) => (sheet.onload = sheet.onerror = resolve));
  document.querySelector("link[rel=stylesheet]")?.before(sheet);
  return applied;
}

/** @param {HTMLElement} receipt */
function addCloseButton(receipt) {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "close";
  close.textContent = "Close";
  close.setAttribute("popovertarget", receipt.id);
  close.setAttribute("popovertargetaction", "hide");
  receipt.append(close);
  receipt.setAttribute("role", "dialog");
}

/** @param {HTMLElement} popover */
function addPopover(popover) {
  popover.setAttribute("popover", "");
  (document.querySelector(".popovers") ?? document.body).append(popover);
}

/** @param {HTMLTemplateElement} list */
function fillSelects({ content, dataset }) {
  const [of, name] = (dataset.options ?? "").split(" ");
  for (const element of queryAll(`select[data-more][name="${name}"][data-of="${of}"]`)) {
    const select = /** @type {HTMLSelectElement} */ (element), { value } = select;
    select.replaceChildren(content.cloneNode(true));
    select.value = value;
    select.removeAttribute("data-more");
    select.disabled = false;
  }
}

/** @param {HTMLAnchorElement} link */
function replaceWithButton(link) {
  const button = document.createElement("button"), hadFocus = document.activeElement === link;
  for (const { name, value } of [...link.attributes]) if (name !== "href") button.setAttribute(name, value);
  button.type = "button";
  button.setAttribute("popovertarget", link.hash.slice(1));
  button.append(...link.childNodes);
  link.replaceWith(button);
  if (hadFocus) button.focus({ preventScroll: true });
  buttons.set(link, button);
}
