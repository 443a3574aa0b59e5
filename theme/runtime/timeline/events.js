/** What happens on a timeline, and what waits for what, in the words that come with the page. */

/** @typedef {{at: number, text: string, starts: number[], ends: number[]}} Event */

const NEAR = 1e-9; // of the axis: events closer than this are one

/** The starts and ends of spans in the order of time. @param {any} view @returns {Event[]} */
export function eventsOf(view) {
  const near = NEAR * (view.axis.high - view.axis.low);
  const all = view.spans.flatMap((span, index) => [
    { at: span.start, text: view.player.times[index][0], index, kind: "starts" },
    { at: span.end, text: view.player.times[index][1], index, kind: "ends" },
  ]);
  all.sort((a, b) => a.at - b.at);
  /** @type {Event[]} */
  const events = [];
  for (const { at, text, index, kind } of all) {
    let last = events[events.length - 1];
    if (!last || at - last.at > near) events.push(last = { at, text, starts: [], ends: [] });
    last[kind].push(index);
  }
  return events.length ? events : [{ at: view.axis.low, text: "", starts: [], ends: [] }];
}

/** From a span back over those that let it start. @param {any} view @returns {number[]} */
export function chainOf(view, index) {
  const chain = [];
  for (let at = index; at >= 0 && !chain.includes(at); at = view.player.waits[at]) chain.push(at);
  return chain;
}

/**
 * Sentences about a timeline.
 * @param {(key: string, parts?: Record<string, string>) => string} say fills in a template's text
 */
export function teller(say) {
  const nameOf = (span) => span.called ?? span.label;
  const laneOf = (view, span) => view.lanes.find(({ key }) => key === span.lane)?.label ?? "";

  /** What happens at an event. @param {Event} event */
  function happening(view, event) {
    const told = ["ends", "starts"].flatMap((kind) => event[kind].map((index) => {
      const span = view.spans[index];
      return say(kind, { span: nameOf(span), lane: laneOf(view, span) });
    }));
    const shown = told.slice(0, 2), rest = told.length - shown.length;
    const events = [...shown, ...(rest ? [say("more", { count: String(rest) })] : [])].join("; ");
    return say("at", { time: event.text, events });
  }

  /** What a span waited for, and that in turn. @param {number[]} chain */
  function waiting(view, chain) {
    if (chain.length < 2) return [say("free")];
    const told = chain.slice(1, 3).map((other, i) => {
      const before = view.spans[other], follows = view.spans[chain[i]].lane === before.lane;
      const key = `${i ? "that" : "it"}-${follows ? "follows" : "waits"}`;
      const to = view.player.times[other][1];
      return say(key, { other: nameOf(before), lane: laneOf(view, before), to });
    });
    const rest = chain.length - 3;
    return rest > 0 ? [...told, say("behind", { count: String(rest) })] : told;
  }

  /** @param {number[]} chain beginning with the span itself */
  function span(view, chain) {
    const it = view.spans[chain[0]], [from, to] = view.player.times[chain[0]];
    const own = { span: nameOf(it), lane: laneOf(view, it), length: it.text, from, to };
    return [say("span", own), ...waiting(view, chain)].join(" ");
  }

  /** @param {string} lane @param {number[]} chain beginning with the span that comes next, if any */
  function idle(view, lane, chain) {
    if (!chain.length) return say("over", { lane });
    const next = view.spans[chain[0]], [from] = view.player.times[chain[0]];
    return [say("idle", { lane, span: nameOf(next), from }), ...waiting(view, chain)].join(" ");
  }

  return { happening, span, idle };
}
