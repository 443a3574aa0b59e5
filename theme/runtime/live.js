/** Live part of a page, loaded lazily: attaches the listeners of calculators and starts the engine on demand. */

import { listenToActions } from "./calculator/actions.js";
import { listenToControls } from "./calculator/controls.js";
import { collectEquations } from "./calculator/equation.js";
import { restoreTexts } from "./calculator/stored_texts.js";
import { listenForHighlight } from "./calculator/highlight.js";
import { listenToReceipts } from "./calculator/receipts.js";
import { prepareCharts } from "./charts/charts.js";
import { listenForTables } from "./calculator/tables.js";
import { createPage } from "./page.js";
import { createAddress } from "./page/address.js";
import { renderDuplicateKeys } from "./page/link_problems.js";
import { yieldToEvents } from "./page/yield.js";
import { queryAll, closestTarget, uiString } from "./page/dom.js";
import { hydrate } from "./page/hydrate.js";
import { observeFigures } from "./page/visible_blocks.js";
import { loadReceipts } from "./page/receipts.js";
import { createSettings, settingNames } from "./page/settings.js";
import { startOnFirstUse, whenLoaded } from "./page/start.js";
import { renderStatus, showNotice } from "./page/status.js";
import { listenToTabs } from "./page/tabs.js";
import { prepareScene } from "./player/scene.js";

// A page whose receipts do not arrive answers all the same and says what it cannot do; they are tried
// again when one is opened, or the network is back.
const receiptsLoaded = loadReceipts().then(() => true, () => false);
const hydrated = hydrate(new URL("./panels/live.html", import.meta.url)).then(() => receiptsLoaded);

function noticeMissingReceipts() {
  showNotice(uiString("no-receipts"));
  addEventListener("online", () => loadReceipts().then(() => showNotice(""), () => {}));
}

/**
 * @param {HTMLElement[]} live elements of calculators that can be changed
 * @param {() => boolean} touched whether the reader used one before this module was loaded
 */
export async function start(live, touched) {
  if (!(await hydrated)) noticeMissingReceipts();
  await yieldToEvents();
  collectEquations();
  await yieldToEvents();
  const names = [...new Set(live.map((element) => element.dataset.of ?? ""))];
  const address = createAddress(names, settingNames());
  /** @type {ReturnType<typeof createPage> | undefined} */
  let pageRef;
  const settings = createSettings(address, () => pageRef?.refresh());
  const page = createPage(names, address, settings);
  pageRef = page;
  const { find } = page, { permalink } = address;

  for (const figure of queryAll("[data-kind=scene]")) prepareScene(figure);
  prepareCharts();
  observeFigures();
  listenToControls(find);
  listenToActions(find);
  listenToReceipts(find);
  listenForHighlight();
  listenForTables(find);
  if (document.querySelector("[data-kind=scene], [data-kind=timeline]")) {
    whenLoaded(async () => (await import("./calculator/drag_handles.js")).listenToHandles(find));
  }
  if (document.querySelector("[data-filter]")) {
    whenLoaded(async () => (await import("./calculator/filter_inputs.js")).listenToFilters());
  }
  if (document.querySelector("[data-file]")) listenForFiles(find);
  if (document.querySelector("[data-job], [data-use-job]")) {
    whenLoaded(async () => (await import("./calculator/job.js")).listenForJob(find));
  }
  if (document.querySelector("[data-tabs]")) listenToTabs(permalink);
  if (document.querySelector("[data-links]")) whenLoaded(() => import("./charts/linked_views.js"));
  if (document.querySelector(".workbench")) {
    whenLoaded(() => import("./page/lab_lists.js"));
    receiptsLoaded.then((loaded) => loaded && whenLoaded(() => import("./page/receipt_column.js")));
  }

  renderDuplicateKeys(address.duplicates());
  for (const { name, value } of address.unknownKeys()) {
    showNotice(uiString("unknown-calculator", { name, value, allowed: names.join(", ") }));
  }
  if (names.length) {
    const addressValues = address.values();
    for (const [name, values] of Object.entries(addressValues)) {
      renderStatus(name, uiString("arriving"));
      find(name)?.loadFromAddress(values);
    }
    restoreTexts(find, addressValues);
    if (Object.keys(address.kept()).length) {
      import("./page/panel.js").then(({ openPanel }) => openPanel("compare", undefined, page));
    }
    startOnFirstUse(live, page.start, touched() || Object.keys({ ...addressValues, ...address.kept() }).length > 0 || settings.anyOn);
  }
  return { page, find, permalink };
}

/** Listens for chosen files from the beginning, so that none is lost while the rest loads. */
function listenForFiles(find) {
  const script = import("./calculator/files.js");
  document.addEventListener("change", async (event) => {
    const fileInput = /** @type {HTMLInputElement | null} */ (closestTarget(event, "[data-file]"));
    if (fileInput) (await script).readChosenFiles(fileInput, find, event);
  });
  script.then(({ listenForDrops, readHandedFiles }) => {
    listenForDrops(find);
    if (location.hash) readHandedFiles(find);
  });
}
