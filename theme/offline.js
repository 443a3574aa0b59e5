/**
 * Service worker: caches visited pages, so that they open without a network. Files with a hash in their
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
  event.waitUntil(Promise.all(event.data.keep.map((address) => cacheUrl(address).catch(() => {}))));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !isInScope(request.url)) return;
  event.respondWith(HASH.test(request.url) ? respondFromCache(event) : respondFromNetwork(request));
});

/** Fetches the list page anew: another mark is another worker, and the list links to files of its build. */
async function renewList() {
  if (MARK) await storeReply(await fetch(listUrl(), { cache: "reload" }), listUrl());
}

function listUrl() {
  return new URL(LIST, self.registration.scope).href;
}

/** @param {string} address */
function isInScope(address) {
  return address.startsWith(self.registration.scope);
}

/** A page is the same whatever state its address carries. @param {string} address */
function withoutQuery(address) {
  const url = new URL(address);
  return url.origin + url.pathname;
}

/** @param {string} address */
async function cacheUrl(address) {
  if (!isInScope(address)) return;
  const cache = await caches.open(STORE);
  if (!(await cache.match(withoutQuery(address)))) await storeReply(await fetch(address), address);
}

/** @param {Response} reply @param {string} address */
async function storeReply(reply, address) {
  if (!reply.ok || reply.type !== "basic" || !(await isIntact(reply.clone(), address))) return;
  const cache = await caches.open(STORE);
  const stem = withoutQuery(address).replace(HASH, "");
  if (stem !== withoutQuery(address)) {
    for (const { url } of await cache.keys()) {
      if (url !== withoutQuery(address) && url.replace(HASH, "") === stem) await cache.delete(url);
    }
  }
  await cache.put(withoutQuery(address), reply.clone());
}

/**
 * Whether a file has the content that its name promises; the build hashes the length, written in one
 * of two ways, and the content.
 * @param {Response} reply @param {string} address
 */
async function isIntact(reply, address) {
  const promised = /-([0-9a-f]{16})\.\w+$/.exec(withoutQuery(address))?.[1];
  if (!promised || !self.crypto?.subtle) return true;
  const content = new Uint8Array(await reply.arrayBuffer()), size = new Uint8Array(8);
  new DataView(size.buffer).setBigUint64(0, BigInt(content.length), true);
  for (const head of [size, new TextEncoder().encode(`${content.length}:`)]) {
    const hashInput = new Uint8Array(head.length + content.length);
    hashInput.set(head);
    hashInput.set(content, head.length);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", hashInput)).subarray(0, 8);
    if ([...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") === promised) return true;
  }
  return false;
}

/** @param {FetchEvent} event */
async function respondFromCache(event) {
  const { request } = event, cache = await caches.open(STORE);
  if (request.cache === "reload") await cache.delete(withoutQuery(request.url));
  const cached = await cache.match(withoutQuery(request.url));
  if (cached) return cached;
  const reply = await fetch(request);
  event.waitUntil(storeReply(reply.clone(), request.url).catch(() => {}));
  return reply;
}

/** @param {Request} request */
async function respondFromNetwork(request) {
  const isList = LIST && withoutQuery(request.url) === listUrl();
  try {
    const reply = await fetch(request);
    // Pages are kept as they come; what else is kept without a hash in its name stays fresh.
    const cache = await caches.open(STORE);
    if (request.mode === "navigate" || (await cache.match(withoutQuery(request.url)))) {
      await storeReply(reply.clone(), request.url).catch(() => {});
    }
    return isList && reply.ok ? fillList(reply, request.url) : reply;
  } catch (error) {
    const cached = await caches.match(withoutQuery(request.url));
    if (cached) return isList ? fillList(cached, request.url) : cached;
    if (request.mode !== "navigate" || !LIST || !(await caches.match(listUrl()))) throw error;
    return Response.redirect(`${listUrl()}?wanted=${encodeURIComponent(request.url)}`);
  }
}

/** Fills in the page that lists the cached pages. @param {Response} reply @param {string} address */
async function fillList(reply, address) {
  const text = await reply.text(), rows = await cachedPageRows(text);
  const wanted = new URL(address).searchParams.get("wanted") ?? "";
  const filled = text
    .replace(/(<ul[^>]*data-kept-pages[^>]*>)[^]*?<\/ul>/, (whole, start) => (rows ? `${start}${rows}</ul>` : whole))
    .replace(/(<p[^>]*data-wanted) hidden>([^]*?)<a href="[^"]*">/, (whole, start, said) => (
      isInScope(wanted) ? `${start}>${said}<a href="${escaped(wanted)}">` : whole));
  return new Response(filled, { headers: { "Content-Type": "text/html; charset=utf-8" } });
}

/** Returns a list row for every cached page, sorted by title. @param {string} text the list, which has the words */
async function cachedPageRows(text) {
  const cache = await caches.open(STORE), keys = await cache.keys();
  const cachedUrls = new Set(keys.map(({ url }) => url)), rows = [];
  const [, live, read] = /data-live="([^"]*)" data-read="([^"]*)"/.exec(text) ?? [];
  for (const { url } of keys) {
    if (!url.endsWith("/") || /\/embed\/|\/receipts\/$/.test(url) || url === listUrl()) continue;
    const page = await (await cache.match(url))?.text() ?? "";
    const title = /<title>([^]*?)(?: · [^·<]*)?<\/title>/.exec(page)?.[1] ?? escaped(url);
    const needs = Object.values(JSON.parse(/data-archives='([^']*)'/.exec(page)?.[1] ?? "{}")).flat();
    const isComplete = needs.every((path) => cachedUrls.has(new URL(path, url).href));
    const note = needs.length ? ` <span class="question">${isComplete ? live : read}</span>` : "";
    rows.push([title, `<li><a href="${escaped(url)}">${title}</a>${note}</li>`]);
  }
  return rows.sort(([a], [b]) => a.localeCompare(b)).map(([, row]) => row).join("");
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
