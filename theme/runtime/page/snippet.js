/** The HTML that shows a calculator in an iframe on another page. */

/**
 * @param {{
 *   name: string, title: string, search?: string, height: number, scheme?: string,
 * }} what the calculator, the state of the page that shows it now, the frame's height in pixels
 * @returns {string}
 */
export function snippet({ name, title, search = "", height, scheme = "" }) {
  const given = [...new URLSearchParams(search)].filter(([key]) => key.startsWith(`${name}.`));
  if (scheme) given.push(["scheme", scheme]);
  const query = new URLSearchParams(given).toString();
  const root = new URL(document.body.dataset.root ?? "./", location.href);
  const source = new URL(`embed/${name}/${query ? `?${query}` : ""}`, root).href;
  return (
    `<iframe src="${escaped(source)}" title="${escaped(title)}" data-wallclock loading="lazy"` +
    ` style="width:100%;height:${Math.ceil(height)}px;border:0"></iframe>\n` +
    `<script src="${escaped(new URL("embed.js", root).href)}" async></script>\n`
  );
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
