/**
 * Stands in 404.html, which is shown at any address: finds the folder of the site, the deepest of the
 * address that holds the search, leads every link there and loads the search from it.
 */
(async () => {
  const { dataset } = document.body;
  const parts = location.pathname.split("/").slice(1, -1);
  const folders = parts.map((_, i) => `/${parts.slice(0, i + 1).join("/")}/`).reverse();
  for (const folder of [...folders, "/"]) {
    const reply = await fetch(`${folder}search/where.json`).catch(() => undefined);
    const isHere = reply?.ok && (await reply.json().then(({ files }) => Boolean(files), () => false));
    if (!isHere) continue;
    dataset.root = folder;
    break;
  }
  for (const link of document.querySelectorAll("[data-place]")) {
    link.setAttribute("href", dataset.root + (link.getAttribute("data-place") ?? ""));
  }
  if (dataset.font) {
    const serif = new FontFace("Source Serif", `url(${dataset.root}${dataset.font})`, { weight: "400 600" });
    serif.load().then((font) => document.fonts.add(font), () => {});
  }
  for (const [address, type] of [[dataset.early, ""], [dataset.script, "module"]]) {
    if (!address) continue;
    const script = document.createElement("script");
    Object.assign(script, { type, src: dataset.root + address });
    document.head.append(script);
  }
})();
