/** What the index that the build made with Pagefind finds, as rows of a list. */

import { keep } from "./offline.js";

const PLACES = 3;

const root = new URL(document.body.dataset.root ?? "./", location.href);
/** Where the files of the search lie, for a message. */
export const folder = new URL("search/", root).pathname;

/** The index, fetched at the first use. @type {Promise<any> | undefined} */
let index;

/** @returns {Promise<any>} */
export function load() {
  index ??= fetchIndex().catch((error) => {
    index = undefined; // the next letter tries again
    throw error;
  });
  return index;
}

async function fetchIndex() {
  const where = new URL("search/where.json", root);
  const { folder, files } = await fetch(where).then((reply) => reply.json());
  const bundle = new URL(`search/${folder}/`, root).href;
  const pagefind = await import(`${bundle}pagefind.js`);
  await pagefind.options({ baseUrl: "/", excerptLength: 22 });
  await pagefind.init();
  keep([where.href, ...files.map((name) => bundle + name)]);
  return pagefind;
}

/** @param {string} wanted @param {number} most @returns {Promise<{hits: any[], count: number}>} */
export async function find(wanted, most) {
  const pagefind = await load();
  const { results } = wanted ? await pagefind.search(wanted) : { results: [] };
  const hits = await Promise.all(results.slice(0, most).map((result) => result.data()));
  const right = hits.filter((hit) => answers(hit, wanted));
  return { hits: right, count: right.length < hits.length ? right.length : results.length };
}

const LETTERS = 3;

/** Where no page has a word, the index goes on with its first letter, which asks for nothing. */
function answers(hit, wanted) {
  const asked = split(wanted);
  const excerpts = [hit.excerpt, ...hit.sub_results.map((part) => part.excerpt)];
  const found = excerpts.flatMap((text) => [...text.matchAll(/<mark>([^<]*)</g)].flatMap(([, word]) => split(word)));
  const begins = (word) => asked.some((one) => word.startsWith(one.slice(0, LETTERS)));
  return !found.length || found.some(begins);
}

/** @param {string} text @returns {string[]} its words */
function split(text) {
  return text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

/** A hit and the places in it that answer best. @param {HTMLTemplateElement} shape of a row */
export function rows(shape, hit) {
  const { kind = "", place = "" } = hit.meta;
  const parts = hit.sub_results.filter((part) => part.url.includes("#")).slice(0, PLACES);
  const excerpt = parts.length ? "" : hit.excerpt;
  const whole = row(shape, hit.meta.title ?? "", kind, new URL(place, root).href, excerpt);
  const inside = parts.map((part) => {
    const anchor = place.includes("#") || kind === "Calculator" ? "" : part.url.slice(part.url.indexOf("#"));
    const made = row(shape, part.title, "", new URL(place + anchor, root).href, part.excerpt);
    made.classList.add("inside");
    return made;
  });
  return [whole, ...inside];
}

/**
 * @param {HTMLTemplateElement} shape
 * @param {string} title @param {string} kind @param {string} address @param {string} excerpt
 */
function row(shape, title, kind, address, excerpt) {
  const made = /** @type {HTMLElement} */ (shape.content.firstElementChild?.cloneNode(true));
  const [link, name, sort, text] = ["a", ".hit-title", ".hit-kind", ".hit-excerpt"].map((part) => made.querySelector(part));
  link?.setAttribute("href", address);
  name?.append(title);
  sort?.append(kind);
  text?.append(...marked(excerpt));
  return made;
}

/** Pagefind marks the words it found; all else is text. @param {string} excerpt */
function marked(excerpt) {
  return excerpt.split(/(<mark>[^<]*<.mark>)/).map((part) => {
    const parsed = document.createElement("template");
    parsed.innerHTML = part; // inert: only its text is taken
    const text = parsed.content.textContent ?? "";
    if (!part.startsWith("<mark>")) return text;
    return Object.assign(document.createElement("mark"), { textContent: text });
  });
}
