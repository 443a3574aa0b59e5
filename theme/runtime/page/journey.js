/**
 * Where the reader is, kept on this device: the last guide, the guides read to their end, and the chosen
 * list, which is carried along: the sidebar and the ways onward are those of the list.
 */

import { closestTarget, fillPlaceholders, parseJson, queryAll } from "./dom.js";
import { readStorage, writeStorage } from "./storage.js";

const LAST = "last-guide", READ = "read-guides", CHOSEN = "list";
const root = new URL(document.body.dataset.root ?? "./", location.href);
const place = location.pathname.slice(root.pathname.length);

/** @typedef {{title: string, url: string, guides: [string, string][]}} List `guides`: address and title */

/** @returns {string[]} addresses of the guides read to their end */
function readGuides() {
  return (readStorage(READ) ?? "").split("\n").filter(Boolean);
}

/** Notes this guide as the last one, and as read when its end is seen. */
function noteGuide() {
  const title = document.querySelector("h1")?.textContent ?? "";
  writeStorage(LAST, JSON.stringify({ title, place }), true);
  const end = document.querySelector(".onward") ?? document.querySelector(".footer");
  if (!end) return;
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    if (!readGuides().includes(place)) writeStorage(READ, [...readGuides(), place].join("\n"), true);
  });
  observer.observe(end);
}

/** Shows the way back to the last guide. @param {HTMLElement} line */
function renderLast(line) {
  const { title, place: last } = parseJson(readStorage(LAST) ?? "{}");
  const link = line.querySelector("a");
  if (!link || !title || !/^[\w/-]+$/.test(last)) return;
  link.textContent = title;
  link.href = new URL(last, root).href;
  line.hidden = false;
}

/** Marks the links to guides that were read. @param {HTMLElement} container */
function markRead(container) {
  const read = readGuides().map((address) => new URL(address, root).href);
  const links = /** @type {HTMLAnchorElement[]} */ (queryAll("a", container));
  for (const link of links) link.toggleAttribute("data-read", read.includes(link.href));
}

/** @param {HTMLElement} line how many guides of the list beside it are read */
function renderProgress(line) {
  const links = queryAll("ol.course a"), count = links.filter((link) => "read" in link.dataset).length;
  line.textContent = fillPlaceholders(line.dataset.said ?? "", { read: String(count), count: String(links.length) });
  line.hidden = !count;
}

/** Carries the chosen list along on a guide. @param {string} key */
async function carryList(key) {
  const [lists, html] = await Promise.all([
    fetch(new URL("lists.json", root)).then((reply) => reply.json()),
    fetch(new URL("../panels/list.html", import.meta.url)).then((reply) => reply.text()),
  ]);
  const panel = new DOMParser().parseFromString(html, "text/html"), words = panel.querySelector("[data-list-words]");
  document.head.append(...panel.querySelectorAll("style"));
  const word = (/** @type {string} */ name, parts = {}) => fillPlaceholders(words?.getAttribute(`data-${name}`) ?? "", parts);
  const list = /** @type {List | undefined} */ (lists[key]);
  if (!list) return;
  const index = list.guides.findIndex(([address]) => address === place);
  if (index < 0) offerReturn(list, word);
  else {
    renderSidebar(list, index, word);
    renderOnward(list, index, word);
  }
}

/** @param {List} list @param {number} index of this guide @param {(name: string, parts?: object) => string} word */
function renderSidebar(list, index, word) {
  const box = document.querySelector(".contents.path > div");
  if (!box) return;
  box.parentElement?.setAttribute("aria-label", list.title);
  const title = document.createElement("p"), items = document.createElement("ol"), leave = document.createElement("button");
  title.append(list.url ? createLink(list.url, list.title) : list.title);
  items.append(...list.guides.map(([address, name], i) => {
    const item = document.createElement("li"), link = createLink(address, name);
    if (i === index) link.setAttribute("aria-current", "page");
    item.append(link);
    return item;
  }));
  Object.assign(leave, { type: "button", textContent: word("leave"), className: "leave" });
  leave.onclick = () => {
    writeStorage(CHOSEN, "");
    location.reload();
  };
  box.replaceChildren(title, items, leave);
  markRead(items);
  for (const link of queryAll("[data-read]", items)) link.title = word("read");
}

/** @param {List} list @param {number} index of this guide @param {(name: string, parts?: object) => string} word */
function renderOnward(list, index, word) {
  const onward = document.querySelector(".onward"), [before, after] = [list.guides[index - 1], list.guides[index + 1]];
  for (const line of queryAll(".previous, .following")) line.remove();
  const first = /** @type {[string, string]} */ ([list.url, word("first")]);
  for (const [name, rel, guide] of [["previous", "prev", before ?? (list.url && first)], ["following", "next", after]]) {
    if (!guide) continue;
    const line = document.createElement("p"), link = createLink(guide[0], word(rel === "next" ? "next" : "previous", { title: guide[1] }));
    line.className = String(name);
    link.rel = String(rel);
    line.append(link);
    onward?.append(line);
  }
}

/** On a guide off the list: the way back to the next one of it. @param {List} list @param {(name: string, parts?: object) => string} word */
function offerReturn(list, word) {
  const next = list.guides.find(([address]) => !readGuides().includes(address));
  if (!next) return;
  const line = document.createElement("p");
  line.className = "back-to-list";
  line.append(createLink(next[0], word("back", { list: list.title, title: next[1] })));
  (document.querySelector(".onward") ?? document.querySelector("article"))?.append(line);
}

/** @param {string} address below the home page @param {string} text */
function createLink(address, text) {
  return Object.assign(document.createElement("a"), { href: new URL(address, root).href, textContent: text });
}

document.addEventListener("click", (event) => {
  const key = closestTarget(event, "[data-list] a")?.closest("[data-list]")?.getAttribute("data-list");
  if (key) writeStorage(CHOSEN, key);
});
if (document.body.classList.contains("guide")) {
  noteGuide();
  const key = readStorage(CHOSEN);
  if (key) carryList(key).catch((error) => console.warn(error));
}
for (const line of queryAll("[data-continue]")) renderLast(line);
for (const list of queryAll(".chips, ol.titles, ol.course, ol.way")) markRead(list);
for (const line of queryAll("[data-list-progress]")) renderProgress(line);
