/** The page for an address that leads nowhere: it searches for the words of the address. */

import { filled } from "./dom.js";
import { find, folder, rows } from "./found.js";

const MOST = 6;
const section = /** @type {HTMLElement} */ (document.querySelector("[data-missing]"));
const input = /** @type {HTMLInputElement} */ (section.querySelector("[data-missing-words]"));
const said = /** @type {HTMLElement} */ (section.querySelector("[data-missing-said]"));
const list = /** @type {HTMLElement} */ (section.querySelector("ol"));
const shape = /** @type {HTMLTemplateElement} */ (section.querySelector("[data-search-hit]"));
let asked = 0;

/** The words of an address below the home page: "guides/zero-1.html" gives "zero 1". */
function wordsOf(address) {
  const { pathname } = new URL(document.body.dataset.root ?? "/", location.href);
  const inside = address.startsWith(pathname) ? address.slice(pathname.length) : address;
  const parts = unescaped(inside).split("/").filter((part) => part && !/^index\.\w+$/.test(part));
  return (parts.pop() ?? "").replace(/\.\w+$/, "").replace(/[^\p{L}\p{N}]+/gu, " ").trim();
}

/** @param {string} text */
function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * What is found for all words; where nothing is, what is found for most of them.
 * @param {string} wanted @returns {Promise<any[]>}
 */
async function best(wanted) {
  const all = await find(wanted, 2 * MOST), single = wanted.split(/\s+/);
  if (all.count || single.length < 2) return nearest(all.hits, single);
  /** @type {Map<string, {hit: any, times: number}>} */
  const met = new Map();
  for (const word of single) {
    for (const hit of (await find(word, MOST)).hits) {
      met.set(hit.url, { hit, times: (met.get(hit.url)?.times ?? 0) + 1 });
    }
  }
  return nearest([...met.values()].sort((a, b) => b.times - a.times).map(({ hit }) => hit), single);
}

/**
 * Pages whose own address has the words come before what only speaks of them.
 * @param {any[]} hits @param {string[]} single words
 */
function nearest(hits, single) {
  const alike = (/** @type {{meta: {place: string}}} */ { meta: { place } }) =>
    place.includes("#") ? 0 : single.filter((word) => place.includes(word.toLowerCase())).length;
  return [...hits].sort((a, b) => alike(b) - alike(a)).slice(0, MOST);
}

/** @param {string} [told] said instead of how many there are */
async function show(told) {
  const number = ++asked, words = input.value.trim();
  const say = (/** @type {string} */ key) => {
    const parts = { words, count: String(list.querySelectorAll(":scope > :not(.inside)").length), file: folder };
    said.textContent = filled(section.dataset[key] ?? "", parts);
  };
  try {
    const hits = words ? await best(words) : [];
    if (number !== asked) return;
    list.replaceChildren(...hits.flatMap((hit) => rows(shape, hit)));
    say(!words ? "hint" : !hits.length ? "none" : told ?? (hits.length === 1 ? "one" : "some"));
  } catch {
    if (number === asked) say("broken");
  }
}

section.hidden = false;
input.value = wordsOf(location.pathname);
input.addEventListener("input", () => show());
input.form?.addEventListener("submit", (event) => event.preventDefault());
show("offered");
