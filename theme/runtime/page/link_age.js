/** Age of a link: lists what has changed in its calculators since the date in `made`. */

import { fillPlaceholders } from "./dom.js";

const root = new URL(document.body.dataset.root ?? "./", location.href);
const query = new URLSearchParams(location.search);

/** Names of the calculators that the link sets. */
const linkedCalculators = new Set([...query.keys()].map((key) => key.split(".")[0]));

/** @returns {Promise<void>} */
async function renderChanges() {
  const linkDate = query.get("made") ?? "";
  if (!/^\d{4}-\d\d-\d\d$/.test(linkDate)) return;
  const { said: message, close, changes } = await fetch(new URL("changes.json", root)).then((reply) => reply.json());
  const newer = changes.filter(({ date, calculators }) =>
    date > linkDate && calculators.some((name) => linkedCalculators.has(name)));
  if (!newer.length) return;
  const notice = document.createElement("div"), list = document.createElement("ul");
  notice.className = "notice wrong";
  notice.dataset.older = "";
  notice.setAttribute("role", "status");
  for (const { date, title, url } of newer) {
    const item = document.createElement("li"), link = document.createElement("a");
    link.href = new URL(url, root).href;
    link.textContent = title;
    item.append(`${date}: `, link);
    list.append(item);
  }
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: close });
  button.addEventListener("click", () => notice.remove());
  const sentence = document.createElement("p");
  sentence.textContent = fillPlaceholders(message, { date: linkDate });
  notice.append(sentence, list, button);
  document.querySelector("[data-notice]")?.after(notice);
}

renderChanges().catch(() => {}); // without the list the page is what it is
