/** Panel of saved states: save, open, rename, delete, compare, export, import. */

import { STORAGE_PREFIX, writeStorage } from "./storage.js";
import { closestTarget, queryAll, fillPlaceholders, parseJson, elementsOf, uiString } from "./dom.js";
import { downloadText } from "./save.js";
import { mergeStates, storeStates, parseStates, isSameState, readStates, VERSION, serializeStates } from "./saved_states.js";

/** @typedef {import("./saved_states.js").State} State */
/** @typedef {import("../calculator/controls.js").Calculator} Calculator */

const dialog = /** @type {HTMLDialogElement} */ (document.querySelector("[data-panel=states]"));
const element = (/** @type {string} */ name) => /** @type {any} */ (dialog.querySelector(`[data-states-${name}]`));
const [form, statusLine, undoButton, stateList, comparison, otherList] =
  ["save", "said", "undo", "list", "compared", "others"].map(element);
const root = new URL(document.body.dataset.root ?? "./", location.href);

/** @type {Calculator} */
let calculator;
/** The number that is followed through the changes, "" for the headline. */
let trace = "";
/** The list before the last change, for Undo. @type {State[] | null} */
let undoStates = null;

/** @param {Calculator} target whose states are shown */
export function open(target) {
  if (!target || dialog.open) return;
  calculator = target;
  trace = "";
  element("of").textContent = calculatorTitle();
  comparison.replaceChildren();
  renderStatus("");
  renderStates();
  dialog.showModal();
  form.elements.state.focus();
  if (target.state.kept || Object.keys(target.state.base).length) compareStates();
}

dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const name = form.elements.state.value.trim();
  if (name) saveState(name);
});
undoButton.addEventListener("click", () => {
  if (undoStates) storeStates(undoStates);
  renderStatus("");
  renderStates();
});
element("compare").addEventListener("click", compareStates);
comparison.addEventListener("click", (/** @type {Event} */ event) => {
  const button = closestTarget(event, "[data-trace]");
  if (!button) return;
  trace = button.dataset.trace ?? "";
  compareStates();
});
element("export").addEventListener("click",
  () => downloadText("wallclock-states.json", serializeStates(readStates()), "application/json"));
element("import").addEventListener("change", importStates);

function calculatorTitle() {
  return elementsOf(calculator.name, "[data-calculator]")[0]?.getAttribute("aria-label") ?? calculator.name;
}

/** @param {string} key @param {Record<string, string>} [parts] */
function message(key, parts = {}) {
  return fillPlaceholders(dialog.dataset[key] ?? "", parts);
}

/** @param {string} sentence @param {State[] | null} [undoTo] list that Undo restores */
function renderStatus(sentence, undoTo = null) {
  statusLine.textContent = sentence;
  undoButton.hidden = !undoTo;
  undoStates = undoTo;
}

/** Stores a new list and shows a status. @param {State[]} states @param {string} sentence */
function updateStates(states, sentence) {
  const previous = readStates(), isStored = storeStates(states);
  renderStatus(isStored ? sentence : message("refused"), previous);
  renderStates();
  if (!dialog.contains(document.activeElement)) undoButton.focus();
}

/** @param {string} name */
async function saveState(name) {
  await calculator.settled();
  const job = await currentJob(), { base } = calculator.state, texts = Object.keys(base).filter(isTextInput);
  const page = location.pathname.slice(root.pathname.length).replace(/index\.html$/, "");
  const saved = new Date().toISOString().slice(0, 10);
  const state = { name, calculator: calculator.name, title: calculatorTitle(), page, saved, values: { ...base },
    texts, job };
  const otherStates = readStates().filter((other) => !isSameState(other, state)), previousCount = readStates().length;
  updateStates([...otherStates, state], message(otherStates.length < previousCount ? "replaced" : "saved", { name }));
  form.elements.state.value = "";
}

/** @param {string} input */
function isTextInput(input) {
  return elementsOf(calculator.name, `textarea[name="${input}"]`).length > 0;
}

function renderStates() {
  const ownStates = readStates().filter((state) => state.calculator === calculator.name);
  const otherStates = readStates().filter((state) => state.calculator !== calculator.name);
  stateList.replaceChildren(
    renderChoice("now", message("now"), true),
    ...(calculator.state.kept ? [renderChoice("kept", message("kept"), true)] : []),
    renderChoice("defaults", message("defaults"), !calculator.state.kept),
      ...ownStates.map(renderState),
  );
  otherList.hidden = !otherStates.length;
  otherList.querySelector("ul").replaceChildren(...otherStates.map(renderLink));
}

/** @param {string} key @param {string} text @param {boolean} chosen */
function renderChoice(key, text, chosen) {
  const item = document.createElement("li"), label = document.createElement("label");
  const checkbox = Object.assign(document.createElement("input"), { type: "checkbox", value: key, checked: chosen });
  label.append(checkbox, text);
  item.append(label);
  return item;
}

/** @param {State} state */
function renderState(state) {
  const item = renderChoice(`=${state.name}`, state.name, false);
  const count = String(Object.keys(state.values).length);
  item.querySelector("label")?.append(" ", renderNote(message("changed", { count, date: state.saved })));
  item.append(
    renderButton("open", state.name, () => openState(state)),
    ...(state.job ? [renderButton("asJob", state.name, () => useAsJob(state))] : []),
    renderButton("rename", state.name, () => renameState(item, state)),
    renderButton("delete", state.name, () => {
      updateStates(readStates().filter((other) => !isSameState(other, state)), message("deleted", { name: state.name }));
    }),
  );
  return item;
}

/** Renders a state of another calculator as a link to its page. @param {State} state */
function renderLink(state) {
  const item = document.createElement("li"), anchor = document.createElement("a");
  const addressValues = Object.entries(state.values).filter(([input]) => !state.texts.includes(input));
  const query = new URLSearchParams(addressValues.map(([input, value]) => [`${state.calculator}.${input}`, value]));
  anchor.href = new URL(`${state.page}${addressValues.length ? `?${query}` : ""}#${state.calculator}`, root).href;
  anchor.textContent = state.name;
  anchor.addEventListener("click", () => {
    for (const input of state.texts) writeStorage(`text.${state.calculator}.${input}`, state.values[input] ?? "");
  });
  item.append(anchor, renderNote(state.title));
  return item;
}

/** @param {string} text */
function renderNote(text) {
  return Object.assign(document.createElement("span"), { className: "quiet", textContent: text });
}

/** @param {string} kind @param {string} name @param {() => void} onClick */
function renderButton(kind, name, onClick) {
  const element = Object.assign(document.createElement("button"), { type: "button", textContent: message(kind) });
  element.setAttribute("aria-label", `${message(kind)}: ${name}`);
  element.addEventListener("click", onClick);
  return element;
}

/** @param {State} state */
function openState(state) {
  calculator.replace({ ...state.values }, new Event("open"));
  dialog.close();
}

/** Edits the name in a text field; Enter or blur accepts it, Escape cancels. */
function renameState(item, state) {
  const field = Object.assign(document.createElement("input"), { type: "text", value: state.name, maxLength: 60 });
  field.setAttribute("aria-label", message("rename"));
  item.replaceChildren(field);
  let done = false;
  const finish = (/** @type {boolean} */ isAccepted) => {
    if (done) return;
    done = true;
    const name = field.value.trim();
    const taken = readStates().some((other) => other !== state && isSameState(other, { ...state, name }));
    if (isAccepted && taken && name !== state.name) renderStatus(message("taken", { name }));
    if (!isAccepted || !name || taken) renderStates();
    else updateStates(readStates().map((other) => (isSameState(other, state) ? { ...other, name } : other)), "");
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    finish(event.key === "Enter");
  });
  field.addEventListener("blur", () => finish(true));
  field.select();
}

/** Names of this calculator's inputs that describe a job. @returns {string[]} */
function jobInputs() {
  return parseJson(queryAll(`[data-whole][data-of="${calculator.name}"]`)[0]?.dataset.useJob) ?? [];
}

/** @param {State} state */
function useAsJob({ name, job }) {
  const isStored = [writeStorage("job", job), writeStorage("job-name", name)].every(Boolean);
  dispatchEvent(new StorageEvent("storage", { key: `${STORAGE_PREFIX}job` }));
  renderStatus(isStored ? message("jobKept", { name }) : uiString("unkept"));
}

/** Returns all inputs of the job as a query, defaults included; the engine supplies them. @returns {Promise<string>} */
async function currentJob() {
  const names = jobInputs();
  if (names.length && !calculator.state.reply) await calculator.requestExtra("copy", "json");
  const { inputs = {} } = calculator.state.reply ?? {};
  const pairs = names.filter((name) => inputs[name]).map((name) => [`${calculator.name}.${name}`, inputs[name].value]);
  return new URLSearchParams(pairs).toString();
}

/** Compares the chosen states; the engine explains the differences. */
async function compareStates() {
  const keys = queryAll("input:checked", stateList).map((checkbox) => /** @type {HTMLInputElement} */ (checkbox).value);
  const ownStates = readStates().filter((state) => state.calculator === calculator.name);
  const compared = keys.map((key) => ({
    name: key[0] === "=" ? key.slice(1) : message(key),
    values: key === "now" ? calculator.state.base : key === "kept" ? calculator.state.kept : ownStates.find(({ name }) => key === `=${name}`)?.values ?? {},
  }));
  // Time runs from the left: defaults, what was saved, what stands there now.
  compared.sort((first, second) => Number(first.name === message("now")) - Number(second.name === message("now")));
  comparison.textContent = message("busy");
  const html = compared.length > 1 ? await calculator.requestExtra("compare", JSON.stringify({ states: compared, trace })) : "";
  comparison.innerHTML = html; // the engine has escaped what readers wrote
}

/** Imports the states of a file. @param {Event} event */
async function importStates(event) {
  const fileInput = /** @type {HTMLInputElement} */ (event.target), file = fileInput.files?.[0];
  if (!file) return;
  const imported = parseStates(await file.text().catch(() => ""));
  fileInput.value = "";
  const values = { file: file.name, version: String(imported.version), count: String(imported.states.length) };
  if (imported.version > VERSION) renderStatus(message("newer", values));
  else if (!imported.version) renderStatus(message("noFile", values));
  else {
    const why = imported.wrong.map((number) => message("wrongEntry", { number: String(number) })).join(", ");
    const refused = String(imported.wrong.length);
    updateStates(mergeStates(readStates(), imported.states),
      message(why ? "importedBut" : "imported", { ...values, refused, why }));
  }
}
