/** Live receipts: requested when opened and rendered while open. */

import { queryAll, elementsOf } from "../page/dom.js";
import { openedPopover } from "../page/popovers.js";
import { morph } from "./morph.js";

/** @param {(name: string | undefined) => import("./controls.js").Calculator | undefined} find */
export function listenToReceipts(find) {
  document.addEventListener("toggle", (event) => {
    const { of, receiptFor } = openedPopover(event)?.dataset ?? {}, calculator = find(of);
    if (receiptFor && calculator?.state.reply) calculator.refresh();
  }, { capture: true });
  document.addEventListener("receipt", ({ detail }) => find(detail)?.state.reply && find(detail)?.refresh());
}

/** @param {string} calculator @returns {string[]} the outputs whose receipts are open */
export function openReceiptNames(calculator) {
  const receipts = elementsOf(calculator, "[data-receipt-for]").filter((receipt) => receipt.matches(":popover-open, .receipt-column *"));
  return receipts.map((receipt) => receipt.dataset.receiptFor ?? "");
}

/** @param {string} calculator @param {Record<string, string>} fragments output -> HTML */
export function renderReceipts(calculator, fragments) {
  for (const receipt of elementsOf(calculator, "[data-receipt-for]")) {
    const html = fragments[receipt.dataset.receiptFor ?? ""];
    if (html === undefined) continue;
    for (const fragment of queryAll("[data-fragment]", receipt)) morph(fragment, html);
  }
}
