/** The search box: asks the index that the build made with Pagefind, which runs in a Worker. */

import { all, filled } from "./dom.js";
import { keep } from "./offline.js";

const MOST = 12;
const PLACES = 3;

const box = /** @type {HTMLDialogElement} */ (document.querySelector("[data-search]"));
const input = /** @type {HTMLInputElement} */ (box.querySelector("[data-search-words]"));
const list = /** @type {HTMLElement} */ (box.querySelector("ol"));
const said = /** @type {HTMLElement} */ (box.querySelector("[data-search-said]"));
const shape = /** @type {HTMLTemplateElement} */ (box.querySelector("[data-search-hit]"));
const root = new URL(document.body.dataset.root ?? "./", location.href);

/** The index, fetched at the first use. @type {Promise<any> | undefined} */
let index;
let asked = 0;

/** Opens the box. */
export function open() {
  if (box.open) return;
  box.showModal();
  input.select();
  if (!input.value) said.textContent = box.dataset.hint ?? "";
  if (!list.childElementCount && input.value) find();
  load().catch(() => {});
}

input.addEventListener("input", find);
box.addEventListener("click", (event) => {
  if (event.target === box || (event.target instanceof Element && event.target.closest("li a"))) box.close();
});
box.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    mark(step);
  } else if (event.key === "Enter" && event.target === input) {
    event.preventDefault();
    (list.querySelector("[aria-selected=true] a") ?? list.querySelector("a"))?.click();
  }
});

/** @returns {Promise<any>} */
function load() {
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

/** Shows what is found for the words in the box; only the newest question is answered. */
async function find() {
  const number = ++asked, wanted = input.value.trim();
  try {
    const pagefind = await load();
    const { results } = wanted ? await pagefind.search(wanted) : { results: [] };
    const hits = await Promise.all(results.slice(0, MOST).map((result) => result.data()));
    if (number === asked) show(wanted, hits, results.length);
  } catch {
    if (number !== asked) return;
    list.replaceChildren();
    said.textContent = told("broken", { file: new URL("search/", root).pathname });
  }
}

/** @param {string} wanted @param {any[]} hits @param {number} count */
function show(wanted, hits, count) {
  list.replaceChildren(...hits.flatMap(rows));
  input.setAttribute("aria-expanded", String(hits.length > 0));
  input.removeAttribute("aria-activedescendant");
  const key = !wanted ? "hint" : !count ? "none" : count === 1 ? "one" : "some";
  said.textContent = told(key, { words: wanted, count: String(count) });
}

/** @param {string} key @param {Record<string, string>} parts */
function told(key, parts) {
  return filled(box.dataset[key] ?? "", parts);
}

/** A hit and the places in it that answer best. */
function rows(hit) {
  const { kind = "", place = "" } = hit.meta;
  const parts = hit.sub_results.filter((part) => part.url.includes("#")).slice(0, PLACES);
  const whole = row(hit.meta.title ?? "", kind, new URL(place, root).href, parts.length ? "" : hit.excerpt);
  const inside = parts.map((part) => {
    const anchor = place.includes("#") || kind === "Calculator" ? "" : part.url.slice(part.url.indexOf("#"));
    const made = row(part.title, "", new URL(place + anchor, root).href, part.excerpt);
    made.classList.add("inside");
    return made;
  });
  return [whole, ...inside];
}

/** @param {string} title @param {string} kind @param {string} address @param {string} excerpt */
function row(title, kind, address, excerpt) {
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

/** Moves the mark through the list; Enter follows it. @param {number} step */
function mark(step) {
  const found = all("li", list), now = found.findIndex((one) => one.ariaSelected === "true");
  const next = found[Math.max(0, Math.min(found.length - 1, now + step))];
  found.forEach((one, at) => {
    one.id = `search-hit-${at}`;
    one.setAttribute("aria-selected", String(one === next));
  });
  if (!next) return;
  next.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", next.id);
}
