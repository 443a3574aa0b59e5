/**
 * The reader's own job, from a page that parses one or from a saved state: its inputs are kept in local
 * storage and applied to calculators of other pages on demand.
 */

import { queryAll, fillPlaceholders, parseJson, closestTarget, uiString, setProperty } from "../page/dom.js";
import { STORAGE_PREFIX, writeStorage, readStorage } from "../page/storage.js";
import { showNotice } from "../page/status.js";

const JOB_KEY = "job", TITLE_KEY = "job-name", MODEL_INPUT = "job.model", CONSTANTS_INPUT = "job.own_constants";
/** Option value of a custom model. */
const CUSTOM_MODEL = "custom";

/** @param {(name: string | undefined) => import("./controls.js").Calculator | undefined} find */
export function listenForJob(find) {
  for (const output of queryAll("[data-output]")) if (output.querySelector("[data-job]")) observeJob(output, find);
  renderOffers();
  addEventListener("storage", ({ key }) => key?.startsWith(STORAGE_PREFIX + JOB_KEY) && renderOffers());
  document.addEventListener("click", (event) => {
    const button = closestTarget(event, "[data-use-job]");
    const unapplied = button ? applyJob(button, find, event) : "";
    if (unapplied) showNotice(unapplied);
    if (closestTarget(event, "[data-forget-job]")) forgetJob();
  });
}

/** Renders every calculator's offer to use the job, with its name if it has one. */
function renderOffers() {
  const name = readStorage(TITLE_KEY);
  for (const line of queryAll("[data-own-job]")) {
    line.hidden = !(readStorage(JOB_KEY) ?? "").includes("ownCluster" in line.dataset ? CONSTANTS_INPUT : "=");
    const [namedText, readText] = queryAll("[data-job-said], [data-job-read]", line);
    if (name && namedText) setProperty(namedText, "textContent",
      fillPlaceholders(namedText.dataset.jobSaid ?? "", { name }));
    for (const [element, shown] of [[namedText, name], [readText, !name]]) if (element) element.hidden = !shown;
  }
}

/** Deletes the stored job; calculators that use it keep its values until Reset. */
function forgetJob() {
  writeStorage(JOB_KEY, "");
  writeStorage(TITLE_KEY, "");
  renderOffers();
}

/** Stores the job that a page parses, as soon as it differs from the defaults. */
function observeJob(output, find) {
  const isOwn = () => Object.keys(find(output.dataset.of)?.state.base ?? {}).length > 0;
  new MutationObserver(() => {
    const link = /** @type {HTMLElement | null} */ (output.querySelector("[data-job]"));
    const job = (isOwn() && link?.dataset.job && mergeJob(link.dataset.job)) || readStorage(JOB_KEY) || "";
    if (job !== readStorage(JOB_KEY)) {
      writeStorage(JOB_KEY, job);
      writeStorage(TITLE_KEY, "");
    }
  }).observe(output, { childList: true, subtree: true, attributes: true });
}

/** Merges a parsed job and the stored cluster constants, whichever came first. */
function mergeJob(readQuery) {
  const [readJob, storedJob] = [readQuery, readStorage(JOB_KEY) ?? ""].map((query) => new URLSearchParams(query));
  const [job, other] = readJob.has(MODEL_INPUT) ? [readJob, storedJob] : [storedJob, readJob];
  const constants = readJob.get(CONSTANTS_INPUT) ?? other.get(CONSTANTS_INPUT);
  if (!job.has(MODEL_INPUT)) return readQuery;
  if (constants) job.set(CONSTANTS_INPUT, constants);
  return decodeURIComponent(job.toString());
}

/**
 * Stores a parsed job for every calculator that takes one, and applies it to this one.
 *
 * @param {string} readQuery a query @param {string} name of a calculator @returns {string} message about
 * inputs that were not applied, or that nothing was stored
 */
export function takeJob(readQuery, name, find, event) {
  const isStored = [writeStorage(JOB_KEY, mergeJob(readQuery)), writeStorage(TITLE_KEY, "")].every(Boolean);
  renderOffers();
  const [button] = queryAll(`[data-use-job][data-of="${name}"]`);
  return [applyJob(button, find, event), isStored ? "" : uiString("unkept")].filter(Boolean).join(" ");
}

/** @param {HTMLElement} button @returns {string} message about inputs that were not applied */
function applyJob(button, find, event) {
  const { of = "", useJob } = button.dataset, names = parseJson(useJob);
  const pairs = [...new URLSearchParams(readStorage(JOB_KEY) ?? "")].map(([key, value]) =>
    [key.split(".").pop() ?? "", value]);
  const fitting = pairs.filter(([name]) => names.includes(name))
    .map(([name, value]) => [name, value === CUSTOM_MODEL && "listed" in button.dataset ? undefined
      : matchOption(of, name, value)]);
  const unapplied = fitting.filter(([, value]) => value === undefined).map(([name]) => labelOf(of, name));
  find(of)?.change({ values: Object.fromEntries(fitting.filter(([, value]) => value !== undefined)) }, event);
  return unapplied.length ? uiString("job-left", { left: unapplied.join(", ") }) : "";
}

/** @param {string} of @param {string | undefined} name of an input */
function labelOf(of, name) {
  const field = queryAll(`[data-field="${name}"][data-of="${of}"] label`)[0];
  return field?.textContent ?? name;
}

/** The value, by the name that this calculator has for it; an option that it lacks would only be refused. */
function matchOption(of, name, value) {
  const [select] = queryAll(`select[name="${name}"][data-of="${of}"]`);
  if (!select) return value;
  const options = [.../** @type {any} */ (select).options];
  return options.find((option) => option.value === value || option.dataset.also === value)?.value;
}
