"""What axe-core finds on a page."""

import json
from pathlib import Path

AXE = Path(__file__).resolve().parents[2] / "theme" / "node_modules" / "axe-core" / "axe.min.js"
# One element of every kind that colors can be wrong on: by its own colors and size, and by those
# behind it. What lies behind what is the same in both schemes, and looked at in light everywhere.
KINDS = """() => {
  const behind = new WeakMap();
  const layers = (one) => {
    if (!one) return "";
    if (!behind.has(one)) {
      const s = getComputedStyle(one);
      const own = [s.backgroundColor, s.backgroundImage, s.opacity, s.filter, s.mixBlendMode];
      behind.set(one, own.join() + "/" + layers(one.parentElement));
    }
    return behind.get(one);
  };
  const says = (one) => one.matches("input, select, textarea")
    || [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  window.kinds = new Map();
  for (const one of document.body.querySelectorAll("*")) {
    if (!says(one) || !one.checkVisibility()) continue;
    const s = getComputedStyle(one), named = (it) => `${it.tagName}.${it.getAttribute("class")}`;
    const kind = [s.color, s.fontSize, s.fontWeight, s.textShadow, named(one),
      named(one.parentElement), layers(one)].join();
    if (!kinds.has(kind)) kinds.set(kind, one);
  }
  return [...kinds.keys()];
}"""
# Kinds that were looked at in dark, on whatever page: they look alike on the next.
_in_dark: set[str] = set()


def violations(page, *rules, within="() => document"):
    """What axe-core finds, with all rules or with some, on the page or on some of its elements."""
    if not page.evaluate("() => 'axe' in window"):  # half a megabyte, read once in a page
        page.evaluate(AXE.read_text("utf-8"))
    # What is loaded ahead serves rules on the page's orientation and on sound alone.
    # Selectors of all that it looked at, of which nobody asks here, take half of the time.
    options = {"resultTypes": ["violations"], "preload": False, "selectors": False}
    options |= {"runOnly": list(rules)} if rules else {}
    run = f"""options => {{
      const where = ({within})();
      return where.length === 0 ? {{ violations: [] }} : axe.run(where, options);
    }}"""
    found = page.evaluate(run, options)["violations"]
    return [f"{one['id']}: {node['html'][:160]}" for one in found for node in one["nodes"]]


def in_both_schemes(page):
    """What axe-core finds, in light with all rules; of a scheme only colors depend."""
    light = violations(page)
    page.emulate_media(color_scheme="dark")
    fresh = [kind for kind in page.evaluate(KINDS) if kind not in _in_dark]
    # Looked for once more: an answer may have put others in the place of those.
    of_kinds = f"() => (({KINDS})(), {json.dumps(fresh)}.flatMap(kind => kinds.get(kind) ?? []))"
    dark = violations(page, "color-contrast", within=of_kinds) if fresh else []
    if not dark:  # what is wrong is told of every page that has it
        _in_dark.update(page.evaluate("all => all.filter(kind => kinds.has(kind))", fresh))
    page.emulate_media(color_scheme="null")
    return [*light, *(f"in dark, {one}" for one in dark)]
