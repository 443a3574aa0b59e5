/**
 * Where the numbers come from stands on a page beside this one, to which each is a link. Fetched
 * when one is opened or something is live, it becomes boxes here, and the links buttons for them.
 * With it comes what else nobody needs before: definitions of terms, what is folded, options of
 * choices, what presets set, how a guess compares.
 */

import { putBack } from "./beside.js";
import { breath } from "./breath.js";
import { all, forget, parsed } from "./dom.js";

/** @type {Promise<void> | undefined} */
let fetched;
/** @type {WeakMap<Element, HTMLElement>} */
const buttons = new WeakMap();

/** Once; after a failure, the next use tries again. */
export function bringReceipts() {
  fetched ??= bring();
  fetched.catch(() => (fetched = undefined));
  return fetched;
}

/** @param {HTMLAnchorElement} link of a number or a term */
export async function openReceipt(link) {
  try {
    await bringReceipts();
  } catch {
    location.assign(link.href);
    return;
  }
  buttons.get(link)?.click();
}

async function bring() {
  const { receipts } = document.body.dataset;
  if (!receipts) return;
  const reply = await fetch(receipts);
  if (!reply.ok) throw new Error(`${receipts}: ${reply.status}`);
  const text = await reply.text();
  await breath();
  const found = putBack(text);
  await breath();
  await Promise.all(all("link[rel=stylesheet]", found).map((link) => giveSheet(link, reply.url)));
  for (const receipt of all(".receipt", found)) giveDialog(receipt);
  for (const box of all(".receipt, .definition", found)) giveBox(box);
  const more = "template[data-equation-template], template[data-tex-template], [data-stops]";
  document.body.append(...all(more, found));
  for (const list of all("template[data-options]", found)) giveOptions(/** @type {HTMLTemplateElement} */ (list));
  const labels = parsed(found.querySelector("[data-cite-labels]")?.textContent ?? "") ?? {};
  for (const [key, label] of Object.entries(labels)) {
    document.getElementById(`ref-${key}`)?.setAttribute("data-cite-label", label);
  }
  for (const { dataset, textContent } of all("[data-presets]", found)) {
    const buttons = all(`[data-preset][data-fresh][data-of="${dataset.presets}"]`);
    const presets = parsed(textContent ?? "");
    buttons.forEach((button, at) => (button.dataset.preset = JSON.stringify(presets[at % presets.length])));
  }
  await breath();
  for (const link of all("a:is(.number, .term)")) giveButton(/** @type {HTMLAnchorElement} */ (link));
  forget();
}

/** A style sheet that this page has not. @param {Element} link @param {string} from its page */
function giveSheet(link, from) {
  const { href } = new URL(link.getAttribute("href") ?? "", from);
  if ([...document.styleSheets].some((one) => one.href === href)) return;
  const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  const here = new Promise((done) => (sheet.onload = sheet.onerror = done));
  document.querySelector("link[rel=stylesheet]")?.before(sheet);
  return here;
}

/** @param {HTMLElement} receipt */
function giveDialog(receipt) {
  const close = document.createElement("button");
  close.type = "button";
  close.className = "close";
  close.textContent = "Close";
  close.setAttribute("popovertarget", receipt.id);
  close.setAttribute("popovertargetaction", "hide");
  receipt.append(close);
  receipt.setAttribute("role", "dialog");
}

/** @param {HTMLElement} box */
function giveBox(box) {
  box.setAttribute("popover", "");
  (document.querySelector(".popovers") ?? document.body).append(box);
}

/** @param {HTMLTemplateElement} list */
function giveOptions({ content, dataset }) {
  const [of, name] = (dataset.options ?? "").split(" ");
  for (const one of all(`select[data-more][name="${name}"][data-of="${of}"]`)) {
    const select = /** @type {HTMLSelectElement} */ (one), { value } = select;
    select.replaceChildren(content.cloneNode(true));
    select.value = value;
    select.removeAttribute("data-more");
    select.disabled = false;
  }
}

/** @param {HTMLAnchorElement} link */
function giveButton(link) {
  const button = document.createElement("button"), focused = document.activeElement === link;
  for (const { name, value } of [...link.attributes]) if (name !== "href") button.setAttribute(name, value);
  button.type = "button";
  button.setAttribute("popovertarget", link.hash.slice(1));
  button.append(...link.childNodes);
  link.replaceWith(button);
  if (focused) button.focus({ preventScroll: true });
  buttons.set(link, button);
}
