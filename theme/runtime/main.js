/** The page's script: finds what is live, wires it, and starts the engine when it is wanted. */

import { listenToActions } from "./actions.js";
import { createAddress } from "./address.js";
import { startCharts } from "./charts.js";
import { listenToControls } from "./controls.js";
import { all, target, words } from "./dom.js";
import { adoptEquations } from "./equation.js";
import { enable } from "./fields.js";
import { listenForHighlight } from "./highlight.js";
import { watchFigures } from "./nearby.js";
import { keepVisited } from "./offline.js";
import { createPage } from "./page.js";
import { startPrediction } from "./predict.js";
import { listenForPrint } from "./print.js";
import { listenToReceipts } from "./receipts.js";
import { prepareScene } from "./scene.js";
import { createSettings, settingNames } from "./settings.js";
import { startWhenWanted, whenLoaded } from "./start.js";
import { notice } from "./status.js";
import { listenToTabs } from "./tabs.js";

const live = all("[data-of]");
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
  whenLoaded(async () => (await import("./grips.js")).startGrips(find));
}
if (document.querySelector("[data-tabs]")) listenToTabs(address.permalink);
if (document.querySelector("[data-links]")) whenLoaded(() => import("./links.js"));
listenForPrint();
keepVisited();

for (const { name, value } of address.unknown()) {
  notice(words("unknown-calculator", { name, value, allowed: names.join(", ") }));
}
if (names.length) {
  const given = address.values();
  for (const [name, values] of Object.entries(given)) find(name)?.load(values);
  startWhenWanted(live, page.start, Object.keys(given).length > 0 || settings.anyOn);
}

/** What shares is fetched when somebody shares. */
function listenForSharing() {
  const buttons = ["copy-link", "cite-page", "copy-code", "report", "download"];
  document.addEventListener("click", async (event) => {
    const button = target(event, buttons.map((kind) => `[data-${kind}]:enabled`).join());
    if (button) (await import("./share.js")).share(button, find, address.permalink);
  });
}
