/** Search results: queries the Pagefind index and renders hits as list rows. */

import { cacheFiles } from "./offline.js";

const MAX_SECTIONS = 3;

const root = new URL(document.body.dataset.root ?? "./", location.href);
/** Path of the index files, for error messages. */
export const indexPath = new URL("search/", root).pathname;

/** The index, fetched at the first use. @type {Promise<any> | undefined} */
let pagefindIndex;

/** @returns {Promise<any>} */
export function loadIndex() {
  pagefindIndex ??= fetchIndex().catch((error) => {
    pagefindIndex = undefined; // the next letter tries again
    throw error;
  });
  return pagefindIndex;
}

async function fetchIndex() {
  const locationUrl = new URL("search/where.json", root);
  const { folder, files } = await fetch(locationUrl).then((reply) => reply.json());
  const bundle = new URL(`search/${folder}/`, root).href;
  const pagefind = await import(`${bundle}pagefind.js`);
  await pagefind.options({ baseUrl: "/", excerptLength: 22 });
  await pagefind.init();
  cacheFiles([locationUrl.href, ...files.map((name) => bundle + name)]);
  return pagefind;
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
