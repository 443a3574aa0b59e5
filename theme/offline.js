/**
 * Keeps what a reader has visited, so that it opens without a network. Files with a hash in their
 * name never change and come from the store; pages come from the network, and from the store only
 * when there is none. It lies beside the home page, for it may serve only what lies below it.
 */

const STORE = "wallclock-visited";
const HASH = /-[0-9a-f]{16}/;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

/** The page tells what it has fetched before this worker was there to see it. */
self.addEventListener("message", (event) => {
  event.waitUntil(Promise.all(event.data.keep.map((address) => keep(address).catch(() => {}))));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET" || !mine(request.url)) return;
  event.respondWith(HASH.test(request.url) ? stored(request) : fetched(request));
});

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
  if (!reply.ok || reply.type !== "basic") return;
  const store = await caches.open(STORE);
  const stem = bare(address).replace(HASH, "");
  if (stem !== bare(address)) {
    for (const { url } of await store.keys()) {
      if (url !== bare(address) && url.replace(HASH, "") === stem) await store.delete(url);
    }
  }
  await store.put(bare(address), reply.clone());
}

/** @param {Request} request */
async function stored(request) {
  const kept = await caches.match(bare(request.url));
  if (kept) return kept;
  const reply = await fetch(request);
  await put(reply, request.url).catch(() => {});
  return reply;
}

/** @param {Request} request */
async function fetched(request) {
  try {
    const reply = await fetch(request);
    if (request.mode === "navigate") await put(reply, request.url).catch(() => {});
    return reply;
  } catch (error) {
    const kept = await caches.match(bare(request.url));
    if (kept) return kept;
    throw error;
  }
}
