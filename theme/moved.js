/** A page that was renamed leads on, with the state and the place that the old address names. */
{
  const { to = "./" } = /** @type {HTMLScriptElement} */ (document.currentScript).dataset;
  location.replace(new URL(to, location.href).href + location.search + location.hash);
}
