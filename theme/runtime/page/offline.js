/** Offline support: tells the service worker (offline.js beside the home page) what to cache. */

import { whenIdle, whenLoaded } from "./start.js";

/** @type {(worker: ServiceWorker | null) => void} */
let resolveWorker;
/** @type {Promise<ServiceWorker | null>} */
const workerReady = new Promise((resolve) => (resolveWorker = resolve));
let registered = false;

/** Caches files, also those that a Worker fetched or will fetch. @param {string[]} addresses */
export function cacheFiles(addresses) {
  workerReady.then((worker) => worker?.postMessage({ keep: addresses }));
}

/**
 * Registers the service worker and caches the page and all that it fetches. Where a page has live figures it is
 * called when one is near, or after a while, so that its text comes first.
 */
export function cacheVisitedPage() {
  const { offline } = document.body.dataset;
  if (registered || !offline || !("serviceWorker" in navigator)) return;
  registered = true;
  whenLoaded(() => whenIdle(async () => {
    try {
      await navigator.serviceWorker.register(offline);
      resolveWorker((await navigator.serviceWorker.ready).active);
    } catch {
      return; // a private window, or a host without https: the page works all the same
    }
    const { receipts } = document.body.dataset;
    cacheFiles([location.href, ...(receipts ? [new URL(receipts, location.href).href] : [])]);
    const observer = new PerformanceObserver((list) => cacheFiles(list.getEntries().map(({ name }) => name)));
    observer.observe({ type: "resource", buffered: true });
    document.body.dataset.kept = "";
  }));
}

/**
 * Caches the engine's files, which the page's own records do not show: its Worker fetched them.
 * @param {string[]} archives what the page's calculators need besides
 */
export async function cacheEngine(archives) {
  const { runtime = "" } = document.body.dataset;
  const manifest = new URL(runtime, location.href).href;
  const files = await fetch(manifest).then((reply) => reply.json()).catch(() => ({}));
  const names = Object.values(files).filter((name) => /^[\w.-]+$/.test(name));
  cacheFiles([manifest, ...archives, ...names.map((name) => new URL(name, manifest).href)]);
}
