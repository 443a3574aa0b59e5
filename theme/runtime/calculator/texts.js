/**
 * What a reader pastes into a box of several lines is kept on this device, never in an address: it
 * is there again after a reload, read or not.
 */

import { all } from "../page/dom.js";
import { keep, kept } from "../page/kept.js";

/** What was kept last of each box. @type {WeakMap<Element, string>} */
const last = new WeakMap();

/** @param {HTMLTextAreaElement} box */
function keyOf(box) {
  return `text.${box.dataset.of}.${box.name}`;
}

/** @param {HTMLTextAreaElement} box @param {boolean} own a default needs no keeping */
export function keepText(box, own) {
  const text = own ? box.value : "";
  if (last.get(box) === text) return;
  last.set(box, text);
  keep(keyOf(box), text);
}

/**
 * Put every kept text back, but where the address names another.
 *
 * @param {(name: string | undefined) => import("./controls.js").Calculator | undefined} find
 * @param {Record<string, Record<string, string>>} given calculator -> input -> text of the address
 */
export function restoreTexts(find, given) {
  const boxes = /** @type {HTMLTextAreaElement[]} */ (all("textarea[data-of]"));
  for (const box of boxes) {
    const { of = "" } = box.dataset, text = kept(keyOf(box));
    if (!text || given[of]?.[box.name] !== undefined) continue;
    box.value = text;
    last.set(box, text);
    find(of)?.change({ typed: { [box.name]: text } });
  }
  // What was typed a moment ago may not have been read yet.
  addEventListener("pagehide", () => {
    for (const box of boxes) if (box.value !== box.defaultValue) keepText(box, true);
  });
}
