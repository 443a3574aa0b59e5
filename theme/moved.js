/** Redirect of a renamed page; keeps the query and the fragment. */
{
  const { to = "./" } = /** @type {HTMLScriptElement} */ (document.currentScript).dataset;
  location.replace(new URL(to, location.href).href + location.search + location.hash);
}
