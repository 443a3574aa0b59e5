/** The 404 page: searches for the words of the requested address. */

import { fillPlaceholders } from "./dom.js";
import { searchIndex, indexPath, renderHit } from "./search_results.js";

const MAX_HITS = 6;
const section = /** @type {HTMLElement} */ (document.querySelector("[data-missing]"));
const input = /** @type {HTMLInputElement} */ (section.querySelector("[data-missing-words]"));
const statusLine = /** @type {HTMLElement} */ (section.querySelector("[data-missing-said]"));
const list = /** @type {HTMLElement} */ (section.querySelector("ol"));
const hitTemplate = /** @type {HTMLTemplateElement} */ (section.querySelector("[data-search-hit]"));
let requestCount = 0;

/** Returns the words of an address below the home page: "guides/zero-1.html" gives "zero 1". */
function wordsOfAddress(address) {
  const { pathname } = new URL(document.body.dataset.root ?? "/", location.href);
  const relative = address.startsWith(pathname) ? address.slice(pathname.length) : address;
  const parts = decodeAddress(relative).split("/").filter((part) => part && !/^index\.\w+$/.test(part));
  return (parts.pop() ?? "").replace(/\.\w+$/, "").replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/** @param {string} text */
function decodeAddress(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Returns the hits for all words, then those for each of them.
 * @param {string} query @returns {Promise<any[]>}
 */
async function searchWords(query) {
  const { hits } = await searchIndex(query, 2 * MAX_HITS), queryWords = query.split(/\s+/);
  /** @type {Map<string, {hit: any, times: number}>} */
  const hitsByUrl = new Map(hits.map((/** @type {any} */ hit) => [hit.url, { hit, times: queryWords.length }]));
  for (const word of queryWords.length > 1 ? queryWords : []) {
    for (const hit of (await searchIndex(word, MAX_HITS)).hits) {
      hitsByUrl.set(hit.url, { hit, times: (hitsByUrl.get(hit.url)?.times ?? 0) + 1 });
    }
  }
  return rankByAddress([...hitsByUrl.values()].sort((a, b) => b.times - a.times).map(({ hit }) => hit), queryWords);
}

/**
 * Returns hits sorted by how many words their own address has, in singular or plural.
 * @param {any[]} hits @param {string[]} queryWords words
 */
function rankByAddress(hits, queryWords) {
  const countWords = (/** @type {{meta: {place: string}}} */ { meta: { place } }) =>
    place.includes("#") ? 0 : queryWords.filter((word) => place.includes(word.toLowerCase().replace(/s$/, ""))).length;
  return [...hits].sort((a, b) => countWords(b) - countWords(a)).slice(0, MAX_HITS);
}

/** @param {string} [statusKey] status shown instead of the number of hits */
async function renderHits(statusKey) {
  const request = ++requestCount, query = input.value.trim();
  const renderStatus = (/** @type {string} */ key) => {
    const parts = { words: query, count: String(list.querySelectorAll(":scope > :not(.inside)").length), file: indexPath };
    statusLine.textContent = fillPlaceholders(section.dataset[key] ?? "", parts);
  };
  try {
    const hits = query ? await searchWords(query) : [];
    if (request !== requestCount) return;
    list.replaceChildren(...hits.flatMap((hit) => renderHit(hitTemplate, hit)));
    renderStatus(!query ? "hint" : !hits.length ? "none" : statusKey ?? (hits.length === 1 ? "one" : "some"));
  } catch {
    if (request === requestCount) renderStatus("broken");
  }
}

section.hidden = false;
input.value = wordsOfAddress(location.pathname);
input.addEventListener("input", () => renderHits());
input.form?.addEventListener("submit", (event) => event.preventDefault());
renderHits("offered");
