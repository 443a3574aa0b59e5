/** Embed code: HTML that shows a calculator in an iframe on another page. */

/**
 * @param {{
 *   name: string, title: string, search?: string, height: number, scheme?: string,
 * }} options the calculator, the state of the page that shows it now, the frame's height in pixels
 * @returns {string}
 */
export function embedSnippet({ name, title, search = "", height, scheme = "" }) {
  const query = [...new URLSearchParams(search)].filter(([key]) => key.startsWith(`${name}.`));
  if (scheme) query.push(["scheme", scheme]);
  const queryText = new URLSearchParams(query).toString();
  const root = new URL(document.body.dataset.root ?? "./", location.href);
  const source = new URL(`embed/${name}/${queryText ? `?${queryText}` : ""}`, root).href;
  return (
    `<iframe src="${escapeHtml(source)}" title="${escapeHtml(title)}" data-wallclock loading="lazy"` +
    ` style="width:100%;height:${Math.ceil(height)}px;border:0"></iframe>\n` +
    `<script src="${escapeHtml(new URL("embed.js", root).href)}" async></script>\n`
  );
}

/** @param {string} text */
function escapeHtml(text) {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
