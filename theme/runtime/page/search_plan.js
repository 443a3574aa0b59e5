/**
 * "70B on 64 H100" offers the planner with it filled in. Which models and GPUs there are, and what they are
 * called, the planner's own page says.
 */

const root = new URL(document.body.dataset.root ?? "./", location.href);
const PLANNER = "tools/planner/", CALCULATOR = "job_planner";
const OPTIONS = `${PLANNER}receipts/`; // with what the page shows only when asked
const OWN_MACHINE = "own"; // in the planner's list of machines
const GPUS = /(\d[\d,]*)\s*(?:x|×|of)?\s*([a-z]+[a-z0-9-]*\d[a-z0-9-]*)/i;
const SIZE = /\b(\d+(?:\.\d+)?[bt])\b/i;

/** @type {Promise<Document> | undefined} */
let plannerPage;

/** What belongs to the planner's page and names what it can plan. */
function loadPlanner() {
  plannerPage ??= fetch(new URL(OPTIONS, root)).then(async (reply) => {
    if (!reply.ok) throw new Error(`${reply.status} for ${reply.url}`);
    return new DOMParser().parseFromString(await reply.text(), "text/html");
  });
  plannerPage.catch(() => (plannerPage = undefined));
  return plannerPage;
}

/**
 * @param {string} query
 * @returns {Promise<{place: string, model: string, count: string, gpu: string} | null>} none where it names no job
 */
export async function planFor(query) {
  const gpus = GPUS.exec(query), size = SIZE.exec(query.replace(gpus?.[0] ?? "", " "));
  if (!gpus || !size) return null;
  const page = await loadPlanner().catch(() => null);
  const model = page && findOption(page, "model", size[1]);
  // A machine of the catalog is whole, with its ports; of a GPU alone the planner has to be told more.
  const machine = page && findOption(page, "machine", gpus[2]), gpu = page && findOption(page, "gpu", gpus[2]);
  const chosen = machine ? { machine: machine.value } : gpu && { machine: OWN_MACHINE, gpu: gpu.value };
  if (!model || !chosen) return null;
  const count = gpus[1].replaceAll(",", "");
  const inputs = Object.entries({ model: model.value, ...chosen, world_size: count });
  const asked = new URLSearchParams(inputs.map(([name, value]) => [`${CALCULATOR}.${name}`, value]));
  return { place: `${PLANNER}?${asked}`, model: nameOf(model), count, gpu: nameOf(gpu ?? /** @type {any} */ (machine)) };
}

/** @param {HTMLOptionElement} option */
function nameOf(option) {
  return option.textContent?.trim() ?? "";
}

/** The first option of an input that has a word, or the newest of its family. @param {Document} page @param {string} input @param {string} word */
function findOption(page, input, word) {
  const list = /** @type {HTMLTemplateElement | null} */ (page.querySelector(`[data-options="${CALCULATOR} ${input}"]`));
  const options = [...list?.content.querySelectorAll("option") ?? []];
  const words = (/** @type {HTMLOptionElement} */ option) => nameOf(option).toLowerCase().split(/[\s,()]+/);
  const matching = options.filter((option) => words(option).includes(word.toLowerCase()));
  return input === "model" ? matching.findLast((option) => words(option)[0] === words(matching[0])[0]) : matching[0];
}
