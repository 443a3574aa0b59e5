/** Height of embedded calculators: sets each iframe to the height that it posts. */
addEventListener("message", ({ data, origin, source }) => {
  const height = data?.wallclockHeight;
  if (!Number.isFinite(height)) return;
  for (const frame of document.querySelectorAll("iframe[data-wallclock]")) {
    if (frame.contentWindow !== source || new URL(frame.src).origin !== origin) continue;
    frame.style.height = `${Math.min(Math.max(Math.ceil(height), 100), 20000)}px`;
  }
});
