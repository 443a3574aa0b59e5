/** DOM helpers: queries, writes, texts. Every live element names its calculator in `data-of`. */

/**
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {HTMLElement[]}
 */
export function queryAll(selector, root = document) {
  return /** @type {HTMLElement[]} */ ([...root.querySelectorAll(selector)]);
}

/** Whether inputs open in a sheet at the foot of the window: on a phone. */
export function hasDock() {
  return matchMedia("(max-width: 44rem) and (pointer: coarse)").matches;
}

/** Query results by selector: live elements come with the page and stay. */
const elementCache = new Map();

/** Clears the query results, after numbers and receipts were replaced by other elements. */
export function clearElementCache() {
  elementCache.clear();
}

/**
 * Returns the live elements of a calculator that match a simple selector without commas.
 *
 * @param {string} calculator
 * @param {string} selector
 * @returns {HTMLElement[]}
 */
export function elementsOf(calculator, selector) {
  const fullSelector = `${selector}[data-of="${calculator}"]`;
  if (!elementCache.has(fullSelector)) elementCache.set(fullSelector,
    liveElementsOf(calculator).filter((element) => element.matches(selector)));
  return elementCache.get(fullSelector);
}

/** Live elements by calculator; the page is queried once per task. */
const liveElements = new Map();

function liveElementsOf(calculator) {
  if (!liveElements.size) queueMicrotask(() => liveElements.clear());
  if (!liveElements.has(calculator)) liveElements.set(calculator, queryAll(`[data-of="${calculator}"]`));
  return liveElements.get(calculator);
}

/**
 * Returns the closest ancestor of an event's target that matches a selector.
 *
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function closestTarget(event, selector) {
  const element = event.target;
  return element instanceof Element ? element.closest(selector) : null;
}

/** Sets a property only if it changes, which avoids a layout. */
export function setProperty(element, property, value) {
  if (element[property] !== value) element[property] = value;
}

/** Sets an attribute only if it changes. @param {Element} element @param {string} name @param {string} value */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * Returns a UI string of a template `[data-words]` with its {placeholders} filled in.
 *
 * @param {string} key
 * @param {Record<string, string>} [parts]
 */
export function uiString(key, parts = {}) {
  return fillPlaceholders(document.querySelector(`[data-words][data-${key}]`)?.getAttribute(`data-${key}`) ?? "", parts);
}

/** Returns a text with its {placeholders} filled in. @param {string} text @param {Record<string, string>} parts */
export function fillPlaceholders(text, parts) {
  return text.replace(/\{(\w+)\}/g, (placeholder, name) => parts[name] ?? placeholder);
}

/** @param {string | undefined} text @returns {any} */
export function parseJson(text) {
  return text ? JSON.parse(text) : null;
}

/** Whether a table shows an older result. @param {Element} details */
export function isStaleTable(details) {
  return details.querySelector("[data-table]")?.hasAttribute("data-old") ?? false;
}
