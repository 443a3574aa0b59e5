/** Only while serving: reloads the page when it was rebuilt, shows why when it could not be. */

const PLACE = "wallclock.reload";
const here = location.pathname.replace(/^\//, "").replace(/(^|\/)$/, "$1index.html");

function restore() {
  const kept = sessionStorage.getItem(PLACE);
  sessionStorage.removeItem(PLACE);
  if (!kept) return;
  const [path, top] = JSON.parse(kept);
  if (path === location.pathname) scrollTo({ top, behavior: "instant" });
}

function reload() {
  sessionStorage.setItem(PLACE, JSON.stringify([location.pathname, scrollY]));
  location.reload();
}

/** @param {string[]} problems */
function show(problems) {
  document.querySelector("[data-problems]")?.remove();
  const box = document.createElement("div");
  box.dataset.problems = "";
  box.setAttribute("role", "alert");
  box.style.cssText =
    "position:fixed;inset:auto 0 0 0;max-height:60vh;overflow:auto;z-index:9999;padding:1rem;" +
    "background:#7c111d;color:#fff;font:14px/1.5 ui-monospace,monospace;white-space:pre-wrap";
  box.textContent = problems.join("\n");
  document.body.append(box);
}

let lost = false;
const events = new EventSource("/_events");
events.onmessage = (message) => {
  const { problems, changed } = JSON.parse(message.data);
  if (problems) show(problems);
  else if (changed.some((/** @type {string} */ name) => name === here || !name.endsWith(".html"))) {
    reload();
  } else document.querySelector("[data-problems]")?.remove();
};
events.onerror = () => (lost = true);
events.onopen = () => lost && reload();

history.scrollRestoration = "manual";
addEventListener("load", restore);
restore();
