/**
 * Before the first paint: the reader's choice of light or dark and of the size of the text. The page
 * loads this ahead of its text; a choice made later comes as an event "look".
 */
(() => {
  const names = ["scheme", "size"];
  const dark = "(prefers-color-scheme: dark)";
  /** The style sheet's dark rules, found once. @type {CSSMediaRule[]} */
  let rules = [];

  /** In an iframe the page around it knows best: `?scheme=dark`. @type {Record<string, string>} */
  const asked = {};
  if ("embedded" in document.documentElement.dataset) {
    const given = new URLSearchParams(location.search);
    for (const name of names) if (given.has(name)) asked[name] = given.get(name) ?? "";
  }

  /** @returns {Record<string, string>} what this device kept; nothing where storage is forbidden */
  function kept() {
    try {
      const found = names.map((name) => [name, localStorage.getItem(`wallclock.${name}`) ?? ""]);
      return { ...Object.fromEntries(found), ...asked };
    } catch {
      return asked;
    }
  }

  /** @param {Record<string, string>} look */
  function wear({ scheme, size }) {
    const root = document.documentElement, chosen = scheme === "light" || scheme === "dark";
    // Nothing is looked for until somebody chooses: reading all rules takes as long as a small page.
    if (!rules.length && chosen) {
      const all = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
      rules = all.filter((rule) => rule instanceof CSSMediaRule && rule.media.mediaText === dark);
    }
    for (const rule of rules) rule.media.mediaText = !chosen ? dark : scheme === "dark" ? "screen" : "not all";
    root.dataset.scheme = chosen ? scheme : "system";
    root.dataset.size = size ?? "";
  }

  wear(kept());
  addEventListener("look", (event) => wear(event.detail));
  addEventListener("storage", ({ key }) => {
    if (names.some((name) => key === `wallclock.${name}`)) wear(kept());
  });
})();
