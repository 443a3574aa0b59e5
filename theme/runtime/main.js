/** Entry script of every page: attaches listeners and loads the live parts when they are near or used. */

import { closestTarget } from "./page/dom.js";
import { enableControls } from "./page/enable.js";
import { listenForGuesses } from "./page/guesses.js";
import { createLiveLoader } from "./page/lazy_live.js";
import { listenForAppearance } from "./page/appearance.js";
import { listenToPopovers } from "./page/popovers.js";
import { listenForPrint } from "./page/print.js";
import { whenLoaded } from "./page/start.js";

const sleepNotice = /** @type {HTMLElement | null} */ (document.querySelector("[data-asleep]"));
if (sleepNotice) sleepNotice.hidden = true; // not removed: that would make the browser style the whole page again

enableControls();
if (/[?&]\w+\.\w+=/.test(location.search)) import("./page/link_inputs.js").then(({ showLink }) => showLink());
const loadLive = createLiveLoader();
listenForGuesses();
listenToPopovers();
listenForSharing();
listenForReceipts();
if (/[?&]made=/.test(location.search)) whenLoaded(() => import("./page/link_age.js"));
if ("embedded" in document.documentElement.dataset) whenLoaded(() => import("./page/embedded.js"));
if (document.querySelector("[data-embedding]")) whenLoaded(() => import("./page/embed_generator.js"));
if (document.querySelector("[data-take-file]")) whenLoaded(() => import("./page/take_file.js"));
if (document.querySelector("[data-continue], [data-list], .guide .onward")) whenLoaded(() => import("./page/journey.js"));
listenForAppearance();
if (document.querySelector(".contents")) whenLoaded(() => import("./page/toc_highlight.js"));
listenForPanels();
if (matchMedia("(pointer: coarse)").matches) import("./page/touch.js");
listenForPrint();

/** Loads and opens a panel on its button, or on its key outside of text fields. */
function listenForPanels() {
  const open = async (name, of, keys) => {
    const [{ openPanel }, live] = await Promise.all([import("./page/panel.js"), of ? loadLive() : undefined]);
    await openPanel(name, live?.find(of) ?? keys, live?.page);
  };
  document.addEventListener("click", (event) => {
    const { opens, of } = closestTarget(event, "[data-opens]:enabled")?.dataset ?? {};
    if (opens) open(opens, of);
  });
  document.addEventListener("keydown", (event) => {
    const name = { "/": "search", "?": "keys" }[event.key];
    const typed = event.target instanceof Element && event.target.closest("input, select, textarea, [contenteditable]");
    if (!name || typed || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (name !== "search") return void open(name);
    const keys = [], keep = (/** @type {KeyboardEvent} */ { key }) => key.length === 1 && keys.push(key);
    document.addEventListener("keydown", keep); // what is typed before the field is there
    open(name, undefined, keys).then(() => document.removeEventListener("keydown", keep));
  });
}

/** Loads receipts and definitions on hover or focus, and opens one on click. */
function listenForReceipts() {
  const loadScript = () => import("./page/receipts.js"), links = "a:is(.number, .term)";
  for (const eventType of ["pointerover", "focusin", "toggle"]) {
    document.addEventListener(eventType, async (event) => {
      if (closestTarget(event, `${links}, details:has([data-beside])`)) (await loadScript()).loadReceipts().catch(() => {});
    }, { passive: true, capture: true });
  }
  document.addEventListener("click", async (event) => {
    const link = /** @type {HTMLAnchorElement | null} */ (closestTarget(event, links));
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    (await loadScript()).openReceipt(link);
  });
}

/** Loads the sharing module on the first use of one of its buttons. */
function listenForSharing() {
  const buttons = ["copy-link", "copy-as", "copy-cite", "copy-code", "report", "download"];
  document.addEventListener("click", async (event) => {
    const button = closestTarget(event, buttons.map((kind) => `[data-${kind}]:enabled`).join());
    if (!button) return;
    const [{ share }, { page, find, permalink }] = await Promise.all([import("./page/share.js"), loadLive()]);
    await page.settled();
    share(button, find, permalink);
  });
}
