/** Finding things on the page. Every live element names its calculator in `data-of`. */

/**
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {HTMLElement[]}
 */
export function all(selector, root = document) {
  return /** @type {HTMLElement[]} */ ([...root.querySelectorAll(selector)]);
}

/** Live elements come with the page and stay, so each search is made once. */
const found = new Map();

/** Numbers and receipts are other elements now: they are searched anew. */
export function forget() {
  found.clear();
}

/**
 * The live elements of one calculator that match a simple selector without commas.
 *
 * @param {string} calculator
 * @param {string} selector
 * @returns {HTMLElement[]}
 */
export function partsOf(calculator, selector) {
  const wanted = `${selector}[data-of="${calculator}"]`;
  if (!found.has(wanted)) found.set(wanted, livingOf(calculator).filter((one) => one.matches(selector)));
  return found.get(wanted);
}

/** The live elements of a calculator: the page is searched once for all who ask in one task. */
const living = new Map();

function livingOf(calculator) {
  if (!living.size) queueMicrotask(() => living.clear());
  if (!living.has(calculator)) living.set(calculator, all(`[data-of="${calculator}"]`));
  return living.get(calculator);
}

/**
 * The nearest live control around an event's target, if it belongs to a calculator.
 *
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function target(event, selector) {
  const element = event.target;
  return element instanceof Element ? element.closest(selector) : null;
}

/** Set a property only where it changes, so that nothing is laid out again for nothing. */
export function write(element, property, value) {
  if (element[property] !== value) element[property] = value;
}

/** @param {Element} element @param {string} name @param {string} value */
export function attribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * A sentence for the reader, written in a template `[data-words]`, with {names} filled in.
 *
 * @param {string} key
 * @param {Record<string, string>} [parts]
 */
export function words(key, parts = {}) {
  return filled(document.querySelector(`[data-words][data-${key}]`)?.getAttribute(`data-${key}`) ?? "", parts);
}

/** A sentence with its {names} filled in. @param {string} text @param {Record<string, string>} parts */
export function filled(text, parts) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => parts[name] ?? whole);
}

/** @param {string | undefined} text @returns {any} */
export function parsed(text) {
  return text ? JSON.parse(text) : null;
}

/** Whether a table shows an older result. @param {Element} details */
export function isOld(details) {
  return details.querySelector("[data-table]")?.hasAttribute("data-old") ?? false;
}
