/**
 * Appearance before the first paint: applies the stored color scheme and text size. The page
 * loads this ahead of its text; a choice made later comes as an event "look".
 */
(() => {
  const names = ["scheme", "size"];
  const darkQuery = "(prefers-color-scheme: dark)";
  /** The style sheet's dark rules, found once. @type {CSSMediaRule[]} */
  let darkRules = [];

  /** In an iframe the page around it knows best: `?scheme=dark`. @type {Record<string, string>} */
  const embedOptions = {};
  if ("embedded" in document.documentElement.dataset) {
    const query = new URLSearchParams(location.search);
    for (const name of names) if (query.has(name)) embedOptions[name] = query.get(name) ?? "";
  }

  /** @returns {Record<string, string>} stored choices; none where storage is forbidden */
  function readAppearance() {
    try {
      const stored = names.map((name) => [name, localStorage.getItem(`wallclock.${name}`) ?? ""]);
      return { ...Object.fromEntries(stored), ...embedOptions };
    } catch {
      return embedOptions;
    }
  }

  /** @param {Record<string, string>} look */
  function applyAppearance({ scheme, size }) {
    const root = document.documentElement, isChosen = scheme === "light" || scheme === "dark";
    // Nothing is looked for until somebody chooses: reading all rules takes as long as a small page.
    if (!darkRules.length && isChosen) {
      const allRules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
      darkRules = allRules.filter((rule) => rule instanceof CSSMediaRule && rule.media.mediaText === darkQuery);
    }
    for (const rule of darkRules) rule.media.mediaText = !isChosen ? darkQuery : scheme === "dark" ? "screen" : "not all";
    root.dataset.scheme = isChosen ? scheme : "system";
    root.dataset.size = size ?? "";
  }

  applyAppearance(readAppearance());
  addEventListener("look", (event) => applyAppearance(event.detail));
  addEventListener("storage", ({ key }) => {
    if (names.some((name) => key === `wallclock.${name}`)) applyAppearance(readAppearance());
  });
})();
