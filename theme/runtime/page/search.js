/** The search box: asks the index, which runs in a Worker. */

import { all, filled } from "./dom.js";
import { find as ask, folder, load, rows } from "./found.js";

const MOST = 12;

const box = /** @type {HTMLDialogElement} */ (document.querySelector("[data-search]"));
const input = /** @type {HTMLInputElement} */ (box.querySelector("[data-search-words]"));
const list = /** @type {HTMLElement} */ (box.querySelector("ol"));
const said = /** @type {HTMLElement} */ (box.querySelector("[data-search-said]"));
const shape = /** @type {HTMLTemplateElement} */ (box.querySelector("[data-search-hit]"));

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

/** Shows what is found for the words in the box; only the newest question is answered. */
async function find() {
  const number = ++asked, wanted = input.value.trim();
  try {
    const { hits, count } = await ask(wanted, MOST);
    if (number === asked) show(wanted, hits, count);
  } catch {
    if (number !== asked) return;
    list.replaceChildren();
    said.textContent = told("broken", { file: folder });
  }
}

/** @param {string} wanted @param {any[]} hits @param {number} count */
function show(wanted, hits, count) {
  list.replaceChildren(...hits.flatMap((hit) => rows(shape, hit)));
  for (const one of list.children) one.setAttribute("role", "option");
  input.setAttribute("aria-expanded", String(hits.length > 0));
  input.removeAttribute("aria-activedescendant");
  const key = !wanted ? "hint" : !count ? "none" : count === 1 ? "one" : "some";
  said.textContent = told(key, { words: wanted, count: String(count) });
}

/** @param {string} key @param {Record<string, string>} parts */
function told(key, parts) {
  return filled(box.dataset[key] ?? "", parts);
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
