/** Lets a page that was visited open without a network: see offline.js beside the home page. */

import { whenIdle, whenLoaded } from "./start.js";

/** @type {(worker: ServiceWorker | null) => void} */
let found;
/** @type {Promise<ServiceWorker | null>} */
const keeper = new Promise((resolve) => (found = resolve));
let begun = false;

/** Keeps files, also those that a Worker fetched or will fetch. @param {string[]} addresses */
export function keep(addresses) {
  keeper.then((worker) => worker?.postMessage({ keep: addresses }));
}

/**
 * Keeps the page and all that it has fetched, now and later. Where a page has live figures it is
 * called when one is near, or after a while, so that its text comes first.
 */
export function keepVisited() {
  const { offline } = document.body.dataset;
  if (begun || !offline || !("serviceWorker" in navigator)) return;
  begun = true;
  whenLoaded(() => whenIdle(async () => {
    try {
      await navigator.serviceWorker.register(offline);
      found((await navigator.serviceWorker.ready).active);
    } catch {
      return; // a private window, or a host without https: the page works all the same
    }
    const { receipts } = document.body.dataset;
    keep([location.href, ...(receipts ? [new URL(receipts, location.href).href] : [])]);
    const seen = new PerformanceObserver((list) => keep(list.getEntries().map(({ name }) => name)));
    seen.observe({ type: "resource", buffered: true });
    document.body.dataset.kept = "";
  }));
}

/**
 * Keeps the engine's files, which the page's own records do not show: its Worker fetched them.
 * @param {string[]} archives what the page's calculators need besides
 */
export async function keepEngine(archives) {
  const { runtime = "" } = document.body.dataset;
  const manifest = new URL(runtime, location.href).href;
  const files = await fetch(manifest).then((reply) => reply.json()).catch(() => ({}));
  const names = Object.values(files).filter((name) => /^[\w.-]+$/.test(name));
  keep([manifest, ...archives, ...names.map((name) => new URL(name, manifest).href)]);
}
