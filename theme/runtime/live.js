/** What is live on the page: wires it, and starts the engine when it is wanted. Fetched when it is near. */

import { listenToActions } from "./calculator/actions.js";
import { listenToControls } from "./calculator/controls.js";
import { adoptEquations } from "./calculator/equation.js";
import { restoreTexts } from "./calculator/texts.js";
import { listenForHighlight } from "./calculator/highlight.js";
import { listenToReceipts } from "./calculator/receipts.js";
import { startCharts } from "./charts/charts.js";
import { listenForTables } from "./calculator/tables.js";
import { createPage } from "./page.js";
import { createAddress } from "./page/address.js";
import { showTwice } from "./page/bad_link.js";
import { breath } from "./page/breath.js";
import { all, target, words } from "./page/dom.js";
import { furnish } from "./page/furnish.js";
import { watchFigures } from "./page/nearby.js";
import { bringReceipts } from "./page/receipts.js";
import { createSettings, settingNames } from "./page/settings.js";
import { startWhenWanted, whenLoaded } from "./page/start.js";
import { notice } from "./page/status.js";
import { listenToTabs } from "./page/tabs.js";
import { prepareScene } from "./player/scene.js";

// A page whose receipts do not arrive answers all the same and says what it cannot do; they are tried
// again when one is opened, or the network is back.
const arrived = bringReceipts().then(() => true, () => false);
const furnished = furnish(new URL("./panels/live.html", import.meta.url)).then(() => arrived);

function sayMissing() {
  notice(words("no-receipts"));
  addEventListener("online", () => bringReceipts().then(() => notice(""), () => {}));
}

/**
 * @param {HTMLElement[]} live what belongs to a calculator that can be changed
 * @param {() => boolean} touched the reader has used something of it before this script was here
 */
export async function start(live, touched) {
  if (!(await furnished)) sayMissing();
  await breath();
  adoptEquations();
  await breath();
  const names = [...new Set(live.map((element) => element.dataset.of ?? ""))];
  const address = createAddress(names, settingNames());
  /** @type {ReturnType<typeof createPage> | undefined} */
  let made;
  const settings = createSettings(address, () => made?.refresh());
  const page = createPage(names, address, settings);
  made = page;
  const { find } = page, { permalink } = address;

  for (const figure of all("[data-kind=scene]")) prepareScene(figure);
  startCharts();
  watchFigures();
  listenToControls(find);
  listenToActions(find);
  listenToReceipts(find);
  listenForHighlight();
  listenForTables(find);
  if (document.querySelector("[data-kind=scene]")) {
    whenLoaded(async () => (await import("./calculator/grips.js")).startGrips(find));
  }
  if (document.querySelector("[data-file]")) listenForFiles(find);
  if (document.querySelector("[data-job], [data-use-job]")) {
    whenLoaded(async () => (await import("./calculator/job.js")).carryJob(find));
  }
  if (document.querySelector("[data-tabs]")) listenToTabs(permalink);
  if (document.querySelector("[data-links]")) whenLoaded(() => import("./charts/links.js"));

  showTwice(address.twice());
  for (const { name, value } of address.unknown()) {
    notice(words("unknown-calculator", { name, value, allowed: names.join(", ") }));
  }
  if (names.length) {
    const given = address.values();
    for (const [name, values] of Object.entries(given)) find(name)?.load(values);
    restoreTexts(find, given);
    startWhenWanted(live, page.start, touched() || Object.keys(given).length > 0 || settings.anyOn);
  }
  return { page, find, permalink };
}

/** Heard from the beginning: what is chosen before the rest of the script is here is not lost. */
function listenForFiles(find) {
  const script = import("./calculator/files.js");
  document.addEventListener("change", async (event) => {
    const chooser = /** @type {HTMLInputElement | null} */ (target(event, "[data-file]"));
    if (chooser) (await script).choose(chooser, find, event);
  });
  script.then(({ listenForDrops }) => listenForDrops(find));
}
