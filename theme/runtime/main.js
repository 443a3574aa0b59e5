/** The page's script: finds what is live, wires it, and starts the engine when it is wanted. */

import { listenToActions } from "./calculator/actions.js";
import { listenToControls } from "./calculator/controls.js";
import { adoptEquations } from "./calculator/equation.js";
import { enable } from "./calculator/fields.js";
import { restoreTexts } from "./calculator/texts.js";
import { listenForHighlight } from "./calculator/highlight.js";
import { listenToReceipts } from "./calculator/receipts.js";
import { startCharts } from "./charts/charts.js";
import { listenForTables } from "./calculator/tables.js";
import { createPage } from "./page.js";
import { createAddress } from "./page/address.js";
import { showTwice } from "./page/bad_link.js";
import { all, target, words } from "./page/dom.js";
import { watchFigures } from "./page/nearby.js";
import { keepVisited } from "./page/offline.js";
import { foldPlace, markPlace } from "./page/here.js";
import { startLook } from "./page/look.js";
import { startPrediction } from "./page/predict.js";
import { listenForPrint } from "./page/print.js";
import { createSettings, settingNames } from "./page/settings.js";
import { startWhenWanted, whenLoaded } from "./page/start.js";
import { notice } from "./page/status.js";
import { listenToTabs } from "./page/tabs.js";
import { prepareScene } from "./player/scene.js";

const asleep = /** @type {HTMLElement | null} */ (document.querySelector("[data-asleep]"));
if (asleep) asleep.hidden = true; // not removed: that would make the browser style the whole page again
// A receipt alone is that of a finished number, for other inputs than the reader's.
const live = all("[data-of]:not([data-receipt-for])");
const names = [...new Set(live.map((element) => element.dataset.of ?? ""))];
const address = createAddress(names, settingNames());

/** @type {ReturnType<typeof createPage> | undefined} */
let page;
const settings = createSettings(address, () => page?.refresh());
page = createPage(names, address, settings);
const { find } = page;

adoptEquations();
enable();
for (const block of all("[data-predict]")) startPrediction(block);
for (const figure of all("[data-kind=scene]")) prepareScene(figure);
startCharts();
watchFigures();
listenToControls(find);
listenToActions(find);
listenToReceipts(find);
listenForSharing();
listenForHighlight();
if (document.querySelector("[data-kind=scene]")) {
  whenLoaded(async () => (await import("./calculator/grips.js")).startGrips(find));
}
if (document.querySelector("[data-file]")) listenForFiles();
if (document.querySelector("[data-job], [data-use-job]")) {
  whenLoaded(async () => (await import("./calculator/job.js")).carryJob(find));
}
if (/[?&]made=/.test(location.search)) whenLoaded(() => import("./page/older.js"));
if (document.querySelector("[data-tabs]")) listenToTabs(address.permalink);
if (document.querySelector("[data-links]")) whenLoaded(() => import("./charts/links.js"));
if ("embedded" in document.documentElement.dataset) whenLoaded(() => import("./page/embedded.js"));
if (document.querySelector("[data-embedding]")) whenLoaded(() => import("./page/embedding.js"));
startLook();
markPlace();
foldPlace();
listenForBoxes();
listenForPrint();
listenForTables(find);
keepVisited();

showTwice(address.twice());
for (const { name, value } of address.unknown()) {
  notice(words("unknown-calculator", { name, value, allowed: names.join(", ") }));
}
if (names.length) {
  const given = address.values();
  for (const [name, values] of Object.entries(given)) find(name)?.load(values);
  restoreTexts(find, given);
  startWhenWanted(live, page.start, Object.keys(given).length > 0 || settings.anyOn);
}

/** A box is fetched when somebody opens it: by a button, or by its key outside of a text. */
function listenForBoxes() {
  const open = async (name, of) => (await import("./page/panel.js")).openPanel(name, find(of), page);
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

/** Heard from the beginning: what is chosen before the rest of the script is here is not lost. */
function listenForFiles() {
  const script = import("./calculator/files.js");
  document.addEventListener("change", async (event) => {
    const chooser = /** @type {HTMLInputElement | null} */ (target(event, "[data-file]"));
    if (chooser) (await script).choose(chooser, find, event);
  });
  script.then(({ listenForDrops }) => listenForDrops(find));
}

/** What shares is fetched when somebody shares. */
function listenForSharing() {
  const buttons = ["copy-link", "copy-as", "cite-page", "cite-bibtex", "copy-code", "report", "download"];
  document.addEventListener("click", async (event) => {
    const button = target(event, buttons.map((kind) => `[data-${kind}]:enabled`).join());
    if (!button) return;
    const [{ share }] = await Promise.all([import("./page/share.js"), page?.settled()]);
    share(button, find, address.permalink);
  });
}
