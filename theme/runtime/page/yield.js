/** Yields to the event loop, so that input is handled between pieces of long work. */
export function yieldToEvents() {
  return new Promise((resolve) => setTimeout(resolve));
}
