/**
 * What a page shows before its engine has answered: the inputs of its link at once, and results that
 * are not theirs dimmed. Nothing here is computed but where a slider stands.
 */

import { elementsOf, parseJson, queryAll, setProperty } from "./dom.js";
import { loadReceipts } from "./receipts.js";

const INPUT_KEY = /^([a-z][a-z0-9_]*)\.([a-z][a-z0-9_]*)$/;
const DIGITS = 9; // of a number, until the engine writes it

const DIMMED = "0.35";
const PULSE = [{ borderBottomColor: "var(--accent)" }, { borderBottomColor: "var(--hairline)" }];
const PULSE_TIMING = { duration: 800, iterations: Infinity, direction: /** @type {PlaybackDirection} */ ("alternate") };

const isStill = matchMedia("(prefers-reduced-motion: reduce)");
/** Lines under the headlines that wait. @type {WeakMap<Element, Animation>} */
const pulses = new WeakMap();
/** Calculators whose results wait for an answer. @type {Set<string>} */
const waiting = new Set();

/** Shows the inputs of the page's address. */
export async function showLink() {
  const inputs = [...new URLSearchParams(location.search)].flatMap(([key, value]) => {
    const [, name, input] = INPUT_KEY.exec(key) ?? [];
    return name ? [{ name, input, value }] : [];
  });
  for (const name of new Set(inputs.map(({ name }) => name))) dimResults(name);
  for (const { name, input } of inputs) {
    for (const box of elementsOf(name, `input[type=text][name="${input}"]`)) setProperty(box, "value", "…");
  }
  await loadReceipts().catch(() => {});
  for (const { name, input, value } of inputs) if (waiting.has(name)) showInput(name, input, value);
}

/** Dims the results of a calculator until it answers. @param {string} name */
export function dimResults(name) {
  if (waiting.has(name)) return;
  const results = elementsOf(name, "[data-output]"), labs = elementsOf(name, "[data-calculator]");
  if (!results.length && !labs.length) return;
  waiting.add(name);
  for (const result of results) dim(result, true);
  for (const lab of labs) {
    lab.setAttribute("aria-busy", "true");
    if (isStill.matches) continue;
    for (const line of queryAll(":scope > .lead", lab)) pulses.set(line, line.animate(PULSE, PULSE_TIMING));
  }
}

/** @param {HTMLElement} result @param {boolean} isDim */
function dim(result, isDim) {
  result.classList.toggle("arriving", isDim);
  result.style.opacity = isDim ? DIMMED : "";
}

/** @param {string} name @param {string} input @param {string} value SI, as in an address */
function showInput(name, input, value) {
  for (const control of /** @type {any[]} */ (elementsOf(name, `[name="${input}"]`))) {
    if (control.type === "checkbox") setProperty(control, "checked", value === "on");
    else if (control.tagName === "SELECT" && [...control.options].some((option) => option.value === value)) control.value = value;
    else if (control.type === "text") setProperty(control, "value", numberText(name, input, value));
  }
  const share = position(name, input, value);
  for (const slider of elementsOf(name, `[data-slide="${input}"]`)) {
    if (share !== null) setProperty(slider, "value", String(Math.round(1000 * share)));
  }
}

/** @returns {[number, string, number, number, boolean] | undefined} size and text of the unit, low, high, logarithmic */
function rulerOf(name, input) {
  return parseJson(document.querySelector(`[data-rulers="${name}"]`)?.textContent ?? "")?.[input];
}

/** The number as its field will have it; another text as it is. */
function numberText(name, input, value) {
  const [size, unit] = rulerOf(name, input) ?? [], amount = Number(value) / (size ?? NaN);
  return Number.isFinite(amount) ? amount.toLocaleString("en-US", { maximumSignificantDigits: DIGITS }) + unit : value;
}

/** Where the slider stands, 0 to 1; null where that is not known. */
function position(name, input, value) {
  const ruler = rulerOf(name, input);
  if (!ruler || !Number.isFinite(Number(value))) return null;
  const [, , low, high, isLog] = ruler;
  const [from, to, at] = [low, high, Number(value)].map((number) => (isLog ? Math.log(number) : number));
  return Math.min(Math.max((at - from) / (to - from), 0), 1);
}

document.addEventListener("answered", (event) => {
  const { name, reply } = /** @type {CustomEvent} */ (event).detail;
  if (!waiting.has(name) || !reply.outputs) return;
  // Numbers have become buttons meanwhile.
  const dimmed = elementsOf(name, "[data-output]").filter(({ classList }) => classList.contains("arriving"));
  const isAnswered = (/** @type {string} */ output) =>
    reply.outputs[output] || (reply.asked?.includes(output) && !reply.later?.includes(output));
  const answered = dimmed.filter(({ dataset }) => isAnswered(dataset.output ?? ""));
  for (const result of answered) dim(result, false);
  if (answered.length === dimmed.length) waiting.delete(name);
  for (const lab of elementsOf(name, "[data-calculator]")) lab.removeAttribute("aria-busy");
  for (const lead of elementsOf(name, "[data-calculator]").flatMap((lab) => queryAll(":scope > .lead", lab))) pulses.get(lead)?.cancel();
});
