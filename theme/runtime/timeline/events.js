/** Events and wait chains of a timeline, and sentences that describe them. */

/** @typedef {{at: number, text: string, starts: number[], ends: number[]}} Event */

const TOLERANCE = 1e-9; // of the axis: events closer than this are one

/** Returns the starts and ends of spans in the order of time. @param {any} view @returns {Event[]} */
export function timelineEvents(view) {
  const tolerance = TOLERANCE * (view.axis.high - view.axis.low);
  const ends = view.spans.flatMap((span, index) => [
    { at: span.start, text: view.player.times[index][0], index, kind: "starts" },
    { at: span.end, text: view.player.times[index][1], index, kind: "ends" },
  ]);
  ends.sort((a, b) => a.at - b.at);
  /** @type {Event[]} */
  const events = [];
  for (const { at, text, index, kind } of ends) {
    let last = events[events.length - 1];
    if (!last || at - last.at > tolerance) events.push(last = { at, text, starts: [], ends: [] });
    last[kind].push(index);
  }
  return events.length ? events : [{ at: view.axis.low, text: "", starts: [], ends: [] }];
}

/** Returns a span and, in turn, those it waited for. @param {any} view @returns {number[]} */
export function waitChain(view, index) {
  const chain = [];
  for (let spanIndex = index; spanIndex >= 0 && !chain.includes(spanIndex); spanIndex = view.player.waits[spanIndex])
    chain.push(spanIndex);
  return chain;
}

/**
 * Returns functions that describe a timeline in sentences.
 * @param {(key: string, parts?: Record<string, string>) => string} say fills in a template's text
 */
export function createDescriber(say) {
  const spanName = (span) => span.called ?? span.label;
  const laneName = (view, span) => view.lanes.find(({ key }) => key === span.lane)?.label ?? "";

  /** What happens at an event. @param {Event} event */
  function describeEvent(view, event) {
    const sentences = ["ends", "starts"].flatMap((kind) => event[kind].map((index) => {
      const eventSpan = view.spans[index];
      return say(kind, { span: spanName(eventSpan), lane: laneName(view, eventSpan) });
    }));
    const firstSentences = sentences.slice(0, 2), rest = sentences.length - firstSentences.length;
    const events = [...firstSentences, ...(rest ? [say("more", { count: String(rest) })] : [])].join("; ");
    return say("at", { time: event.text, events });
  }

  /** What a span waited for, and that in turn. @param {number[]} chain */
  function describeWaiting(view, chain) {
    if (chain.length < 2) return [say("free")];
    const sentences = chain.slice(1, 3).map((other, i) => {
      const earlier = view.spans[other], isSameLane = view.spans[chain[i]].lane === earlier.lane;
      const key = `${i ? "that" : "it"}-${isSameLane ? "follows" : "waits"}`;
      const to = view.player.times[other][1];
      return say(key, { other: spanName(earlier), lane: laneName(view, earlier), to });
    });
    const rest = chain.length - 3;
    return rest > 0 ? [...sentences, say("behind", { count: String(rest) })] : sentences;
  }

  /** @param {number[]} chain beginning with the span itself */
  function describeSpan(view, chain) {
    const span = view.spans[chain[0]], [from, to] = view.player.times[chain[0]];
    const values = { span: spanName(span), lane: laneName(view, span), length: span.text, from, to };
    return [say("span", values), ...describeWaiting(view, chain)].join(" ");
  }

  /** @param {string} lane @param {number[]} chain beginning with the span that comes next, if any */
  function describeIdle(view, lane, chain) {
    if (!chain.length) return say("over", { lane });
    const next = view.spans[chain[0]], [from] = view.player.times[chain[0]];
    return [say("idle", { lane, span: spanName(next), from }), ...describeWaiting(view, chain)].join(" ");
  }

  return { describeEvent, describeSpan, describeIdle };
}
