/**
 * The page's part of a calculator's widget (`widget.py`): a form, and below it the results as HTML that
 * the engine wrote. While the engine computes, further changes wait and the last one wins.
 */

const STYLE = `
.wallclock-form { display: grid; grid-template-columns: max-content minmax(8em, 14em) minmax(6em, 16em); gap: 0.3em 0.8em; align-items: center; }
.wallclock-form > details { grid-column: 1 / -1; }
.wallclock-form > details[open] { display: grid; grid-template-columns: subgrid; gap: inherit; }
.wallclock-form summary { grid-column: 1 / -1; cursor: pointer; }
.wallclock-form textarea, .wallclock-form [role=alert] { grid-column: 2 / -1; }
.wallclock-form [role=alert] { margin: 0; color: var(--bad, #b3261e); }
.wallclock-form [role=alert]:empty { display: none; }
`;
let count = 0;

/** @param {{model: any, el: HTMLElement}} given */
function render({ model, el }) {
  const style = Object.assign(document.createElement("style"), { textContent: STYLE });
  const form = Object.assign(document.createElement("form"), { className: "wallclock-form" });
  const results = document.createElement("div");
  el.replaceChildren(style, form, results);
  form.addEventListener("submit", (event) => event.preventDefault());

  let number = 0, waiting = null;
  const send = (operation, name, value) => {
    waiting = { [operation]: { [name]: value } };
    if (number === model.get("answered")) flush();
  };
  const flush = () => {
    if (!waiting) return;
    number = model.get("answered") + 1;
    model.set("change", { ...waiting, number });
    waiting = null;
    model.save_changes();
  };

  const fields = createFields(form, model.get("form"), send);
  const showForm = () => {
    for (const state of model.get("form")) fields.get(state.name)?.(state);
  };
  const showResults = () => { results.innerHTML = model.get("html"); };
  const onAnswer = () => { number = model.get("answered"); flush(); };
  model.on("change:form", showForm);
  model.on("change:html", showResults);
  model.on("change:answered", onAnswer);
  showForm();
  showResults();
  return () => {
    model.off("change:form", showForm);
    model.off("change:html", showResults);
    model.off("change:answered", onAnswer);
  };
}

/** @returns {Map<string, (state: any) => void>} name of an input -> shows its state */
function createFields(form, states, send) {
  const folded = document.createElement("details");
  folded.append(Object.assign(document.createElement("summary"), { textContent: "More inputs" }));
  const fields = new Map();
  for (const state of states) fields.set(state.name, createField(state.advanced ? folded : form, state, send));
  if (folded.children.length > 1) form.append(folded);
  return fields;
}

function createField(parent, { name, kind, label, help, options }, send) {
  const id = `wallclock-${(count += 1)}`;
  const named = Object.assign(document.createElement("label"), { htmlFor: id, textContent: label, title: help });
  const control = createControl(kind, options);
  control.id = id;
  control.setAttribute("aria-describedby", `${id}-error`);
  control.addEventListener("change", () => {
    send("typed", name, kind === "switch" ? (control.checked ? "on" : "off") : control.value);
  });
  const slider = kind === "number" ? createSlider(label, (at) => send("slide", name, at)) : document.createElement("span");
  const error = document.createElement("p");
  error.id = `${id}-error`;
  error.setAttribute("role", "alert");
  parent.append(named, control, ...(kind === "text" ? [] : [slider]), error);
  return (state) => {
    error.textContent = state.error ?? "";
    control.setAttribute("aria-invalid", String(Boolean(state.error)));
    if (state.error) return; // what was typed stays
    if (kind === "switch") control.checked = state.value === "on";
    else control.value = kind === "choice" ? state.value : state.text;
    if (kind === "number" && !slider.matches(":active")) slider.value = String(state.position);
  };
}

function createControl(kind, options) {
  if (kind === "text") return document.createElement("textarea");
  if (kind !== "choice") return Object.assign(document.createElement("input"), { type: kind === "switch" ? "checkbox" : "text" });
  const select = document.createElement("select");
  for (const [value, text] of options) select.append(new Option(text, value));
  return select;
}

function createSlider(label, moved) {
  const slider = Object.assign(document.createElement("input"), { type: "range", min: "0", max: "1", step: "any" });
  slider.setAttribute("aria-label", `${label}: slider`);
  slider.addEventListener("input", () => moved(slider.valueAsNumber));
  return slider;
}

export default { render };
