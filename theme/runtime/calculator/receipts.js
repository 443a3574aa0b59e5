/** Receipts: renewed by the engine when they are opened and as long as they stay open. */

import { all, partsOf } from "../page/dom.js";
import { opened } from "../page/popovers.js";
import { morph } from "./morph.js";

/** @param {(name: string | undefined) => import("./controls.js").Calculator | undefined} find */
export function listenToReceipts(find) {
  document.addEventListener("toggle", (event) => {
    const { of, receiptFor } = opened(event)?.dataset ?? {}, calculator = find(of);
    if (receiptFor && calculator?.state.reply) calculator.refresh();
  }, { capture: true });
}

/** @param {string} calculator @returns {string[]} the outputs whose receipts are open */
export function openReceipts(calculator) {
  const open = partsOf(calculator, "[data-receipt-for]").filter((one) => one.matches(":popover-open"));
  return open.map((receipt) => receipt.dataset.receiptFor ?? "");
}

/** @param {string} calculator @param {Record<string, string>} fragments output -> HTML */
export function showReceipts(calculator, fragments) {
  for (const receipt of partsOf(calculator, "[data-receipt-for]")) {
    const html = fragments[receipt.dataset.receiptFor ?? ""];
    if (html === undefined) continue;
    for (const place of all("[data-fragment]", receipt)) morph(place, html);
  }
}
