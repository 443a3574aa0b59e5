/** Where the reader was, kept on this device: the last guide, for the home page. */

import { readStorage, writeStorage } from "./storage.js";
import { parseJson } from "./dom.js";

const LAST = "last-guide";
const root = new URL(document.body.dataset.root ?? "./", location.href);

/** Notes this guide as the last one. */
function noteGuide() {
  const title = document.querySelector("h1")?.textContent ?? "";
  const place = location.pathname.slice(root.pathname.length);
  writeStorage(LAST, JSON.stringify({ title, place }));
}

/** Shows the way back to the last guide. @param {HTMLElement} line */
function renderLast(line) {
  const { title, place } = parseJson(readStorage(LAST) ?? "{}");
  const link = line.querySelector("a");
  if (!link || !title || !/^[\w/-]+$/.test(place)) return;
  link.textContent = title;
  link.href = new URL(place, root).href;
  line.hidden = false;
}

if (document.body.classList.contains("guide")) noteGuide();
for (const line of document.querySelectorAll("[data-continue]")) renderLast(/** @type {HTMLElement} */ (line));
