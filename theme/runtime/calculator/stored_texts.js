/**
 * Texts of text areas in local storage, never in the URL: restored after a reload, valid or not.
 */

import { queryAll } from "../page/dom.js";
import { writeStorage, readStorage } from "../page/storage.js";

/** Text stored last of each box. @type {WeakMap<Element, string>} */
const lastStored = new WeakMap();

/** @param {HTMLTextAreaElement} box */
function storageKey(box) {
  return `text.${box.dataset.of}.${box.name}`;
}

/** @param {HTMLTextAreaElement} box @param {boolean} isOwn whether it differs from the default */
export function storeText(box, isOwn) {
  const text = isOwn ? box.value : "";
  if (lastStored.get(box) === text) return;
  lastStored.set(box, text);
  writeStorage(storageKey(box), text);
}

/**
 * Restores every stored text, unless the URL has another.
 *
 * @param {(name: string | undefined) => import("./controls.js").Calculator | undefined} find
 * @param {Record<string, Record<string, string>>} addressValues calculator -> input -> text of the address
 */
export function restoreTexts(find, addressValues) {
  const boxes = /** @type {HTMLTextAreaElement[]} */ (queryAll("textarea[data-of]"));
  for (const box of boxes) {
    const { of = "" } = box.dataset, text = readStorage(storageKey(box));
    if (!text || addressValues[of]?.[box.name] !== undefined) continue;
    box.value = text;
    lastStored.set(box, text);
    find(of)?.change({ typed: { [box.name]: text } });
  }
  // What was typed a moment ago may not have been read yet.
  addEventListener("pagehide", () => {
    for (const box of boxes) if (box.value !== box.defaultValue) storeText(box, true);
  });
}
