/** Dialog of the site search; the index runs in a Worker. */

import { queryAll, fillPlaceholders } from "./dom.js";
import { searchIndex as ask, indexPath, loadIndex, renderHit } from "./search_results.js";

const MAX_HITS = 12;

const dialog = /** @type {HTMLDialogElement} */ (document.querySelector("[data-search]"));
const input = /** @type {HTMLInputElement} */ (dialog.querySelector("[data-search-words]"));
const list = /** @type {HTMLElement} */ (dialog.querySelector("ol"));
const statusLine = /** @type {HTMLElement} */ (dialog.querySelector("[data-search-said]"));
const hitTemplate = /** @type {HTMLTemplateElement} */ (dialog.querySelector("[data-search-hit]"));

let requestCount = 0;

/** Opens the dialog. */
export function open() {
  if (dialog.open) return;
  dialog.showModal();
  input.select();
  if (!input.value) statusLine.textContent = dialog.dataset.hint ?? "";
  if (!list.childElementCount && input.value) searchInput();
  loadIndex().catch(() => {});
}

input.addEventListener("input", searchInput);
dialog.addEventListener("click", (event) => {
  if (event.target === dialog || (event.target instanceof Element && event.target.closest("li a"))) dialog.close();
});
dialog.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    moveSelection(step);
  } else if (event.key === "Enter" && event.target === input) {
    event.preventDefault();
    (list.querySelector("[aria-selected=true] a") ?? list.querySelector("a"))?.click();
  }
});

/** Searches for the words of the input; only the newest query is rendered. */
async function searchInput() {
  const request = ++requestCount, query = input.value.trim();
  try {
    const { hits, count } = await ask(query, MAX_HITS);
    if (request === requestCount) renderHits(query, hits, count);
  } catch {
    if (request !== requestCount) return;
    list.replaceChildren();
    statusLine.textContent = statusText("broken", { file: indexPath });
  }
}

/** @param {string} query @param {any[]} hits @param {number} count */
function renderHits(query, hits, count) {
  list.replaceChildren(...hits.flatMap((hit) => renderHit(hitTemplate, hit)));
  for (const item of list.children) item.setAttribute("role", "option");
  input.setAttribute("aria-expanded", String(hits.length > 0));
  input.removeAttribute("aria-activedescendant");
  const key = !query ? "hint" : !count ? "none" : count === 1 ? "one" : "some";
  statusLine.textContent = statusText(key, { words: query, count: String(count) });
}

/** @param {string} key @param {Record<string, string>} parts */
function statusText(key, parts) {
  return fillPlaceholders(dialog.dataset[key] ?? "", parts);
}

/** Moves the selection in the list; Enter follows it. @param {number} step */
function moveSelection(step) {
  const items = queryAll("li", list), selected = items.findIndex((item) => item.ariaSelected === "true");
  const next = items[Math.max(0, Math.min(items.length - 1, selected + step))];
  items.forEach((item, index) => {
    item.id = `search-hit-${index}`;
    item.setAttribute("aria-selected", String(item === next));
  });
  if (!next) return;
  next.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", next.id);
}
