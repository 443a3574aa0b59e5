/** The page's script: what a reader needs; what is live is fetched when it is near or used. */

import { foldPlace, markPlace } from "./page/here.js";
import { target } from "./page/dom.js";
import { enable } from "./page/enable.js";
import { listenForGuesses } from "./page/guesses.js";
import { whenLive } from "./page/liven.js";
import { startLook } from "./page/look.js";
import { listenToPopovers } from "./page/popovers.js";
import { listenForPrint } from "./page/print.js";
import { whenLoaded } from "./page/start.js";

const asleep = /** @type {HTMLElement | null} */ (document.querySelector("[data-asleep]"));
if (asleep) asleep.hidden = true; // not removed: that would make the browser style the whole page again

enable();
const live = whenLive();
listenForGuesses();
listenToPopovers();
listenForSharing();
listenForReceipts();
if (/[?&]made=/.test(location.search)) whenLoaded(() => import("./page/older.js"));
if ("embedded" in document.documentElement.dataset) whenLoaded(() => import("./page/embedded.js"));
if (document.querySelector("[data-embedding]")) whenLoaded(() => import("./page/embedding.js"));
startLook();
markPlace();
foldPlace();
listenForBoxes();
listenForPrint();

/** A box is fetched when somebody opens it: by a button, or by its key outside of a text. */
function listenForBoxes() {
  const open = async (name, of) => {
    const [{ openPanel }, around] = await Promise.all([import("./page/panel.js"), of ? live() : undefined]);
    openPanel(name, around?.find(of), around?.page);
  };
  document.addEventListener("click", (event) => {
    const { opens, of } = target(event, "[data-opens]:enabled")?.dataset ?? {};
    if (opens) open(opens, of);
  });
  document.addEventListener("keydown", (event) => {
    const name = { "/": "search", "?": "keys" }[event.key];
    const typed = event.target instanceof Element && event.target.closest("input, select, textarea, [contenteditable]");
    if (!name || typed || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    open(name);
  });
}

/** Where a number comes from is fetched when it is about to be asked, and so is what a term means. */
function listenForReceipts() {
  const script = () => import("./page/receipts.js"), links = "a:is(.number, .term)";
  for (const sign of ["pointerover", "focusin", "toggle"]) {
    document.addEventListener(sign, async (event) => {
      if (target(event, `${links}, details:has([data-beside])`)) (await script()).bringReceipts().catch(() => {});
    }, { passive: true, capture: true });
  }
  document.addEventListener("click", async (event) => {
    const link = /** @type {HTMLAnchorElement | null} */ (target(event, links));
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    (await script()).openReceipt(link);
  });
}

/** What shares is fetched when somebody shares. */
function listenForSharing() {
  const buttons = ["copy-link", "copy-as", "cite-page", "cite-bibtex", "copy-code", "report", "download"];
  document.addEventListener("click", async (event) => {
    const button = target(event, buttons.map((kind) => `[data-${kind}]:enabled`).join());
    if (!button) return;
    const [{ share }, { page, find, permalink }] = await Promise.all([import("./page/share.js"), live()]);
    await page.settled();
    share(button, find, permalink);
  });
}
