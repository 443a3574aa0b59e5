/** Search results: queries the Pagefind index and renders hits as list rows. */

import { cacheFiles } from "./offline.js";

const MAX_SECTIONS = 3;

const root = new URL(document.body.dataset.root ?? "./", location.href);
/** Path of the index files, for error messages. */
export const indexPath = new URL("search/", root).pathname;

/** Groups in the order of results: what readers do first. Tabs and paths count as guides. */
const GROUPS = [
  { name: "Tools", kinds: ["Tool"], limit: 4 },
  { name: "Guides", kinds: ["Guide", "Path"], limit: 5 },
  { name: "Calculators", kinds: ["Calculator"], limit: 4 },
  { name: "Terms", kinds: ["Term"], limit: 4 },
  { name: "Reference", kinds: ["Formula", "Question", "Claim", "Reference", "Page"], limit: 5 },
  { name: "Sources", kinds: ["Source"], limit: 8 },
];

/** The index, fetched at the first use. @type {Promise<any> | undefined} */
let pagefindIndex;
/** Called with every step of loading it. @type {(done: number) => void} */
let onStep = () => {};

/** @param {(done: number) => void} [showStep] of three @returns {Promise<any>} */
export function loadIndex(showStep = onStep) {
  onStep = showStep;
  pagefindIndex ??= fetchIndex().catch((error) => {
    pagefindIndex = undefined; // the next letter tries again
    throw error;
  });
  return pagefindIndex;
}

async function fetchIndex() {
  onStep(0);
  const locationUrl = new URL("search/where.json", root);
  const { folder, files } = await fetch(locationUrl).then((reply) => reply.json());
  const bundle = new URL(`search/${folder}/`, root).href;
  onStep(1);
  const pagefind = await import(`${bundle}pagefind.js`);
  onStep(2);
  await pagefind.options({ baseUrl: "/", excerptLength: 22 });
  await pagefind.init();
  await pagefind.filters(); // its first answer: before, its Worker may still be starting
  onStep(3);
  cacheFiles([locationUrl.href, askedUrl.href, ...files.map((name) => bundle + name)]);
  return pagefind;
}

const askedUrl = new URL("search/asked.json", root);
/** What readers type -> pages that answer it. @type {Promise<any> | undefined} */
let askedWords;

/**
 * Returns the pages that the whole query, or else its words, lead to by the names of terms.
 * @param {string} query @returns {Promise<{title: string, place: string, kind: string}[]>}
 */
export async function answersFor(query) {
  askedWords ??= fetch(askedUrl).then((reply) => reply.json());
  const { pages, words } = await askedWords.catch(() => {
    askedWords = undefined;
    return { pages: [], words: {} };
  });
  const text = query.toLowerCase();
  const numbers = words[text] ?? text.split(/\s+/).flatMap((word) => words[word] ?? []);
  return [...new Set(numbers)].map((number) => pages[number]).map(([title, place, kind]) => ({ title, place, kind }));
}

/**
 * Returns the best hits of each group, and how many there are besides sources.
 * @param {string} query
 */
export async function searchGroups(query) {
  const pagefind = await loadIndex();
  const found = await Promise.all(GROUPS.map(async ({ name, kinds, limit }) => {
    const { results } = query ? await pagefind.search(query, { filters: { kind: { any: kinds } } }) : { results: [] };
    const hits = await Promise.all(results.slice(0, limit).map((result) => result.data()));
    const matching = hits.filter((hit) => matchesQuery(hit, query));
    return { name, kinds, hits: matching, count: matching.length < hits.length ? matching.length : results.length };
  }));
  return { groups: found, count: found.reduce((sum, { name, count }) => sum + (name === "Sources" ? 0 : count), 0) };
}

/** @param {string} query @param {number} limit @returns {Promise<{hits: any[], count: number}>} */
export async function searchIndex(query, limit) {
  const pagefind = await loadIndex();
  const { results } = query ? await pagefind.search(query) : { results: [] };
  const hits = await Promise.all(results.slice(0, limit).map((result) => result.data()));
  const matching = hits.filter((hit) => matchesQuery(hit, query));
  return { hits: matching, count: matching.length < hits.length ? matching.length : results.length };
}

const PREFIX_LENGTH = 3;

/** Whether a hit has a word of the query: the index falls back to a word's first letter. */
function matchesQuery(hit, query) {
  const queryWords = splitWords(query);
  const excerpts = [hit.excerpt, ...hit.sub_results.map((part) => part.excerpt)];
  const markedWords = excerpts.flatMap((text) =>
    [...text.matchAll(/<mark>([^<]*)</g)].flatMap(([, word]) => splitWords(word)));
  const startsLikeQuery = (word) => queryWords.some((queryWord) => word.startsWith(queryWord.slice(0, PREFIX_LENGTH)));
  return !markedWords.length || markedWords.some(startsLikeQuery);
}

/** @param {string} text @returns {string[]} its words */
function splitWords(text) {
  return text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

/** Renders a link to a page. @param {HTMLTemplateElement} template @param {{title: string, kind: string, place: string}} link */
export function renderLink(template, { title, kind, place }) {
  return renderRow(template, title, kind, new URL(place, root).href, "");
}

/** Renders a hit and its best sections as rows. @param {HTMLTemplateElement} template of a row */
export function renderHit(template, hit) {
  const { kind = "", place: address = "" } = hit.meta;
  const sections = hit.sub_results.filter((section) => section.url.includes("#")).slice(0, MAX_SECTIONS);
  const excerpt = sections.length ? "" : hit.excerpt;
  const pageRow = renderRow(template, hit.meta.title ?? "", kind, new URL(address, root).href, excerpt);
  const sectionRows = sections.map((section) => {
    const anchor = address.includes("#") || kind === "Calculator" ? "" : section.url.slice(section.url.indexOf("#"));
    const sectionRow = renderRow(template, section.title, "", new URL(address + anchor, root).href, section.excerpt);
    sectionRow.classList.add("inside");
    return sectionRow;
  });
  return [pageRow, ...sectionRows];
}

/**
 * @param {HTMLTemplateElement} template
 * @param {string} title @param {string} kind @param {string} address @param {string} excerpt
 */
function renderRow(template, title, kind, address, excerpt) {
  const item = /** @type {HTMLElement} */ (template.content.firstElementChild?.cloneNode(true));
  const [link, name, kindLabel, text] =
    ["a", ".hit-title", ".hit-kind", ".hit-excerpt"].map((part) => item.querySelector(part));
  link?.setAttribute("href", address);
  name?.append(title);
  kindLabel?.append(kind);
  text?.append(...parseExcerpt(excerpt));
  return item;
}

/** Pagefind marks the words it found; all else is text. @param {string} excerpt */
function parseExcerpt(excerpt) {
  return excerpt.split(/(<mark>[^<]*<.mark>)/).map((part) => {
    const template = document.createElement("template");
    template.innerHTML = part; // inert: only its text is taken
    const text = template.content.textContent ?? "";
    if (!part.startsWith("<mark>")) return text;
    return Object.assign(document.createElement("mark"), { textContent: text });
  });
}
