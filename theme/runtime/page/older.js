/** A link that says when it was made: what has changed since in the calculators that it sets. */

import { filled } from "./dom.js";

const root = new URL(document.body.dataset.root ?? "./", location.href);
const given = new URLSearchParams(location.search);

/** Which calculators the link sets. */
const set = new Set([...given.keys()].map((key) => key.split(".")[0]));

/** @returns {Promise<void>} */
async function tell() {
  const made = given.get("made") ?? "";
  if (!/^\d{4}-\d\d-\d\d$/.test(made)) return;
  const { said, close, changes } = await fetch(new URL("changes.json", root)).then((reply) => reply.json());
  const since = changes.filter(({ date, calculators }) => date > made && calculators.some((name) => set.has(name)));
  if (!since.length) return;
  const box = document.createElement("div"), list = document.createElement("ul");
  box.className = "notice wrong";
  box.dataset.older = "";
  box.setAttribute("role", "status");
  for (const { date, title, url } of since) {
    const row = document.createElement("li"), link = document.createElement("a");
    link.href = new URL(url, root).href;
    link.textContent = title;
    row.append(`${date}: `, link);
    list.append(row);
  }
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: close });
  button.addEventListener("click", () => box.remove());
  const sentence = document.createElement("p");
  sentence.textContent = filled(said, { date: made });
  box.append(sentence, list, button);
  document.querySelector("[data-notice]")?.after(box);
}

tell().catch(() => {}); // without the list the page is what it is
