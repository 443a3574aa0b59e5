/** Dialog of the site search: what readers do before what they read; the index runs in a Worker. */

import { queryAll, fillPlaceholders } from "./dom.js";
import { answersFor, indexPath, loadIndex, renderHit, renderLink, searchGroups } from "./search_results.js";
import { planFor } from "./search_plan.js";
import { readStorage, writeStorage } from "./storage.js";

const RECENT = "searches", MAX_RECENT = 5;
const DATED_DELAY = 150; // milliseconds after which results of an older query are dimmed

const dialog = /** @type {HTMLDialogElement} */ (document.querySelector("[data-search]"));
const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (dialog.querySelector(`[data-search-${name}]`));
const input = /** @type {HTMLInputElement} */ (part("words"));
const progress = /** @type {HTMLProgressElement} */ (part("progress"));
const [statusLine, emptyState, recentLine, sources] = ["said", "empty", "recent", "sources"].map(part);
const [list, sourceList] = queryAll("ol", dialog);
const hitTemplate = /** @type {HTMLTemplateElement} */ (part("hit"));
const groupTemplate = /** @type {HTMLTemplateElement} */ (part("group"));
const root = new URL(document.body.dataset.root ?? "./", location.href);

let requestCount = 0;
let isReady = false;
let follows = false; // Enter was pressed before there was a result

for (const link of queryAll("[data-place]", dialog)) link.setAttribute("href", new URL(link.dataset.place ?? "", root).href);

/** Opens the dialog. @param {string[]} [keys] that were typed before it was there */
export function open(keys = []) {
  if (dialog.open) return;
  dialog.showModal();
  if (keys.length) input.value = keys.join("");
  else input.select();
  renderRecent();
  searchInput();
}

input.addEventListener("input", searchInput);
dialog.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  if (target === dialog) dialog.close();
  if (target?.closest("[data-recent]")) {
    input.value = target.textContent ?? "";
    input.focus();
    searchInput();
  } else if (target?.closest("li a")) {
    noteQuery();
    dialog.close();
  }
});
dialog.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") {
    event.preventDefault(); // the browser would only empty the field
    dialog.close();
  } else if (step) {
    event.preventDefault();
    moveSelection(step);
  } else if (event.key === "Enter" && event.target === input) {
    event.preventDefault();
    followFirst();
  }
});

/** Opens the selected result or the first; one that comes later, where there is none yet. */
function followFirst() {
  const link = list.classList.contains("dated") ? null : list.querySelector("[aria-selected=true] a") ?? list.querySelector("a");
  follows = !link && input.value.trim() !== "";
  /** @type {HTMLElement | null} */ (link)?.click();
}

/** Searches for the words of the input; only the newest query is rendered. */
async function searchInput() {
  follows = false;
  const request = ++requestCount, query = input.value.trim(), isNewest = () => request === requestCount;
  emptyState.hidden = query !== "";
  const dim = setTimeout(() => {
    if (!isNewest() || !isReady) return;
    list.classList.add("dated");
    statusLine.textContent = dialog.dataset.searching ?? "";
  }, DATED_DELAY);
  if (!isReady) statusLine.textContent = query ? dialog.dataset.preparing ?? "" : "";
  try {
    // What a word of ours leads to is known before the index is there.
    const offered = query ? await Promise.all([planFor(query), answersFor(query)]) : [null, []];
    if (!isNewest()) return;
    if (query && !isReady) renderHits(query, offered, [], 0);
    await loadIndex(showProgress);
    isReady = true;
    progress.hidden = true;
    const { groups, count } = await searchGroups(query);
    if (!isNewest()) return;
    renderHits(query, offered, groups, count);
    if (follows) followFirst();
  } catch (error) {
    console.warn(error);
    progress.hidden = true;
    if (!isNewest()) return;
    list.replaceChildren();
    sources.hidden = true;
    statusLine.textContent = statusText("broken", { file: indexPath });
  } finally {
    clearTimeout(dim);
  }
}

/** @param {number} done steps of three */
function showProgress(done) {
  progress.value = done;
  progress.hidden = done >= Number(progress.max);
}

/**
 * @param {string} query
 * @param {[any, any[]]} offered a filled planner, and the pages that a word of ours leads to
 * @param {{name: string, kinds: string[], hits: any[]}[]} groups
 * @param {number} count of hits that are not sources
 */
function renderHits(query, [plan, answers], groups, count) {
  /** A page is named once, in the first group that has it. @type {Set<string>} */
  const places = new Set();
  const isNew = (/** @type {string} */ place) => !places.has(place) && places.add(place);
  const rows = groups.map(({ name, kinds, hits }) => {
    const own = answers.filter(({ kind, place }) => kinds.includes(kind) && isNew(place));
    const others = hits.filter((hit) => isNew(hit.meta.place));
    return { name, items: [...own.map((answer) => renderLink(hitTemplate, answer)),
      ...others.flatMap((hit) => renderHit(hitTemplate, hit))] };
  });
  if (!groups.length) rows.push({ name: "", items: answers.map((answer) => renderLink(hitTemplate, answer)) });
  if (plan) rows.unshift({ name: "", items: [renderLink(hitTemplate, { ...plan, title: statusText("plan", plan), kind: "Tool" })] });
  const folded = rows.filter(({ name }) => name === "Sources"), shown = rows.filter(({ name }) => name !== "Sources");
  list.replaceChildren(...shown.flatMap(({ name, items }) => (items.length ? [...renderGroup(name), ...items] : [])));
  renderSources(folded.flatMap(({ items }) => items));
  for (const item of list.querySelectorAll("li:not(.hit-group)")) item.setAttribute("role", "option");
  list.classList.remove("dated");
  const found = count + answers.length + (plan ? 1 : 0);
  input.setAttribute("aria-expanded", String(found > 0));
  input.removeAttribute("aria-activedescendant");
  if (!isReady) return;
  const key = !query ? "hint" : !found ? "none" : found === 1 ? "one" : "some";
  statusLine.textContent = statusText(key, { words: query, count: String(found) });
}

/** @param {string} name @returns {HTMLElement[]} */
function renderGroup(name) {
  if (!name) return [];
  const row = /** @type {HTMLElement} */ (groupTemplate.content.firstElementChild?.cloneNode(true));
  row.textContent = name;
  return [row];
}

/** @param {HTMLElement[]} items */
function renderSources(items) {
  sources.hidden = !items.length;
  sourceList.replaceChildren(...items);
  const count = sources.querySelector("summary span");
  if (count) count.textContent = `(${items.length})`;
}

/** @param {string} key @param {Record<string, string>} parts */
function statusText(key, parts) {
  return fillPlaceholders(dialog.dataset[key] ?? "", parts);
}

function recentQueries() {
  return (readStorage(RECENT) ?? "").split("\n").filter(Boolean);
}

/** Keeps a query that led somewhere, on this device. */
function noteQuery() {
  const query = input.value.trim();
  if (query) writeStorage(RECENT, [query, ...recentQueries().filter((other) => other !== query)].slice(0, MAX_RECENT).join("\n"), true);
}

function renderRecent() {
  const queries = recentQueries();
  recentLine.hidden = !queries.length;
  recentLine.querySelector("span")?.replaceChildren(...queries.flatMap((query) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: query });
    button.dataset.recent = "";
    return [button, " "];
  }));
}

/** Moves the selection in the list; Enter follows it. @param {number} step */
function moveSelection(step) {
  const items = queryAll("[role=option]", list), selected = items.findIndex((item) => item.ariaSelected === "true");
  const next = items[Math.max(0, Math.min(items.length - 1, selected + step))];
  items.forEach((item, index) => {
    item.id = `search-hit-${index}`;
    item.setAttribute("aria-selected", String(item === next));
  });
  if (!next) return;
  next.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", next.id);
}
