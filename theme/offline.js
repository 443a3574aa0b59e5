/**
 * Keeps what a reader has visited, so that it opens without a network. Files with a hash in their
 * name never change and come from the store; pages come from the network, and from the store only
 * when there is none. It lies beside the home page, for it may serve only what lies below it.
 * What does not match the hash in its name arrived damaged and is not kept; a request that asks for
 * a reload, as after such a failure, gets past what is kept and replaces it.
 */

/* global LIST, MARK: the page that lists what is kept, and the mark of its content; from the build */
const STORE = "wallclock-visited";
const HASH = /-[0-9a-f]{16}/;

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(renewList().catch(() => {}));
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

/** The page tells what it has fetched before this worker was there to see it. */
self.addEventListener("message", (event) => {
  event.waitUntil(Promise.all(event.data.keep.map((address) => keep(address).catch(() => {}))));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !mine(request.url)) return;
  event.respondWith(HASH.test(request.url) ? stored(event) : fetched(request));
});

/** Another mark is another worker, which fetches the list anew: it leads to files of its time. */
async function renewList() {
  if (MARK) await put(await fetch(listed(), { cache: "reload" }), listed());
}

function listed() {
  return new URL(LIST, self.registration.scope).href;
}

/** @param {string} address */
function mine(address) {
  return address.startsWith(self.registration.scope);
}

/** A page is the same whatever state its address carries. @param {string} address */
function bare(address) {
  const url = new URL(address);
  return url.origin + url.pathname;
}

/** @param {string} address */
async function keep(address) {
  if (!mine(address)) return;
  const store = await caches.open(STORE);
  if (!(await store.match(bare(address)))) await put(await fetch(address), address);
}

/** @param {Response} reply @param {string} address */
async function put(reply, address) {
  if (!reply.ok || reply.type !== "basic" || !(await sound(reply.clone(), address))) return;
  const store = await caches.open(STORE);
  const stem = bare(address).replace(HASH, "");
  if (stem !== bare(address)) {
    for (const { url } of await store.keys()) {
      if (url !== bare(address) && url.replace(HASH, "") === stem) await store.delete(url);
    }
  }
  await store.put(bare(address), reply.clone());
}

/**
 * Whether a file has the content that its name promises; the build hashes the length, written in one
 * of two ways, and the content.
 * @param {Response} reply @param {string} address
 */
async function sound(reply, address) {
  const promised = /-([0-9a-f]{16})\.\w+$/.exec(bare(address))?.[1];
  if (!promised || !self.crypto?.subtle) return true;
  const content = new Uint8Array(await reply.arrayBuffer()), size = new Uint8Array(8);
  new DataView(size.buffer).setBigUint64(0, BigInt(content.length), true);
  for (const head of [size, new TextEncoder().encode(`${content.length}:`)]) {
    const whole = new Uint8Array(head.length + content.length);
    whole.set(head);
    whole.set(content, head.length);
    const found = new Uint8Array(await crypto.subtle.digest("SHA-256", whole)).subarray(0, 8);
    if ([...found].map((byte) => byte.toString(16).padStart(2, "0")).join("") === promised) return true;
  }
  return false;
}

/** @param {FetchEvent} event */
async function stored(event) {
  const { request } = event, store = await caches.open(STORE);
  if (request.cache === "reload") await store.delete(bare(request.url));
  const kept = await store.match(bare(request.url));
  if (kept) return kept;
  const reply = await fetch(request);
  event.waitUntil(put(reply.clone(), request.url).catch(() => {}));
  return reply;
}

/** @param {Request} request */
async function fetched(request) {
  const isList = LIST && bare(request.url) === listed();
  try {
    const reply = await fetch(request);
    // Pages are kept as they come; what else is kept without a hash in its name stays fresh.
    const store = await caches.open(STORE);
    if (request.mode === "navigate" || (await store.match(bare(request.url)))) {
      await put(reply.clone(), request.url).catch(() => {});
    }
    return isList && reply.ok ? withList(reply, request.url) : reply;
  } catch (error) {
    const kept = await caches.match(bare(request.url));
    if (kept) return isList ? withList(kept, request.url) : kept;
    if (request.mode !== "navigate" || !LIST || !(await caches.match(listed()))) throw error;
    return Response.redirect(`${listed()}?wanted=${encodeURIComponent(request.url)}`);
  }
}

/** The page that lists what is kept, filled in. @param {Response} reply @param {string} address */
async function withList(reply, address) {
  const text = await reply.text(), rows = await keptPages(text);
  const wanted = new URL(address).searchParams.get("wanted") ?? "";
  const filled = text
    .replace(/(<ul[^>]*data-kept-pages[^>]*>)[^]*?<\/ul>/, (whole, start) => (rows ? `${start}${rows}</ul>` : whole))
    .replace(/(<p[^>]*data-wanted) hidden>([^]*?)<a href="[^"]*">/, (whole, start, said) => (
      mine(wanted) ? `${start}>${said}<a href="${escaped(wanted)}">` : whole));
  return new Response(filled, { headers: { "Content-Type": "text/html; charset=utf-8" } });
}

/** A row for every page that is kept, by title. @param {string} text the list, which has the words */
async function keptPages(text) {
  const store = await caches.open(STORE), keys = await store.keys();
  const kept = new Set(keys.map(({ url }) => url)), rows = [];
  const [, live, read] = /data-live="([^"]*)" data-read="([^"]*)"/.exec(text) ?? [];
  for (const { url } of keys) {
    if (!url.endsWith("/") || /\/embed\/|\/receipts\/$/.test(url) || url === listed()) continue;
    const page = await (await store.match(url))?.text() ?? "";
    const title = /<title>([^]*?)(?: · [^·<]*)?<\/title>/.exec(page)?.[1] ?? escaped(url);
    const needs = Object.values(JSON.parse(/data-archives='([^']*)'/.exec(page)?.[1] ?? "{}")).flat();
    const whole = needs.every((path) => kept.has(new URL(path, url).href));
    const said = needs.length ? ` <span class="question">${whole ? live : read}</span>` : "";
    rows.push([title, `<li><a href="${escaped(url)}">${title}</a>${said}</li>`]);
  }
  return rows.sort(([a], [b]) => a.localeCompare(b)).map(([, row]) => row).join("");
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
