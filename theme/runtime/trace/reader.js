/**
 * Kineto's JSON as it arrives, in slices: whole events are parsed, what ran on a GPU is kept, the rest
 * is forgotten. The document is that of `engine/run/traces/kineto.py`, which a test compares with it;
 * what it means is not known here.
 */

const KINDS = new Set(["kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"]);
const STEP = "ProfilerStep#";
const LONGEST_NAME = 400;
const LATEST = 1e18;
const LONGEST = 1e12; // microseconds
const PER_MICRO = 1000;
const NAME = 64; // bytes that hold the name of the list of events, with spaces
const LARGEST = 1 << 24; // bytes of one event, and characters beside the events, at most
const [QUOTE, ESCAPE, OPEN, CLOSE, LIST, END, LINE] = [34, 92, 123, 125, 91, 93, 10];
const SPACES = new Set([9, 10, 13, 32]);

/** Why a file is no trace: `parts` are the document's "fault". */
export class Fault extends Error {
  constructor(kind, parts) {
    super(kind);
    this.parts = { kind, ...parts };
  }
}

/**
 * @param {string} file its name
 * @returns {{line: number, take: (bytes: Uint8Array) => void, end: () => Record<string, any>}} `take` is
 *   given the unpacked bytes as they come, `end` returns the rank; both throw a `Fault`; `line` is the
 *   line that has been reached
 */
export function createReader(file) {
  const rank = createRank(file);
  const decoder = new TextDecoder();
  /** Bytes from the beginning of the event that is not over, or of the text outside of events. */
  let rest = new Uint8Array(0);
  let line = 1, column = 1; // of the first byte of `rest`
  let depth = 0, inText = false, escaped = false, begun = false, isList = false;
  let inEvents = false, seen = false; // the list of events, and whether there was one
  let start = -1; // of the event that is not over
  /** Whole events that are not parsed yet: start, end, start, end. @type {number[]} */
  let pieces = [];
  let head = "";
  let read = 0; // bytes of `rest` that were looked at

  function fault(kind, at, more = {}) {
    const [row, place] = placeOf(rest, at, line, column);
    throw new Fault(kind, { file, line: row, column: place, ...more });
  }

  /** Forget the bytes up to `at`; what is left is at the new place. */
  function drop(at) {
    [line, column] = placeOf(rest, at, line, column);
    rest = rest.subarray(at);
  }

  function begin() {
    let at = 0;
    if (rest[0] === 0xef && rest[1] === 0xbb && rest[2] === 0xbf) at = 3;
    while (at < rest.length && SPACES.has(rest[at])) at += 1;
    if (at === rest.length) return false;
    if (rest[at] !== OPEN && rest[at] !== LIST) {
      const text = decoder.decode(rest.subarray(at, at + 120));
      fault("not-json", at, { beginning: [...text.split("\n")[0]].slice(0, 30).join("").trimEnd() });
    }
    drop(at);
    isList = rest[0] === LIST;
    [inEvents, seen] = [isList, isList];
    return true;
  }

  /** Parse the whole events that were found; if one of them is none, say which. */
  function parse() {
    if (!pieces.length) return;
    const first = pieces[0], last = pieces[pieces.length - 1];
    let found;
    try {
      found = JSON.parse(`[${decoder.decode(rest.subarray(first, last))}]`);
    } catch {
      const wrong = pieces.find((from, i) => i % 2 === 0 && !isSound(rest.subarray(from, pieces[i + 1])));
      fault("syntax", wrong ?? first);
    }
    for (const event of found) rank.take(event);
    pieces = [];
  }

  function isSound(bytes) {
    try {
      JSON.parse(decoder.decode(bytes));
      return true;
    } catch {
      return false;
    }
  }

  /** Look at the bytes from `at` on: where events begin and end, and what stands around them. */
  function scan(at) {
    const bytes = rest, { length } = bytes, level = isList ? 1 : 2;
    let from = 0;
    // The loop is over every byte of the file: variables of its own are faster.
    let [deep, within, skips, begins, events] = [depth, inText, escaped, start, inEvents];
    for (; at < length; at += 1) {
      const byte = bytes[at];
      if (within) {
        if (skips) skips = false;
        else if (byte === QUOTE) within = false;
        else if (byte === ESCAPE) skips = true;
      } else if (byte === QUOTE) {
        within = true;
      } else if (byte === OPEN || byte === LIST) {
        if (events && deep === level && begins < 0) begins = at;
        deep += 1;
        if (!events && deep === 2 && byte === LIST && isNamed(bytes, at)) {
          head += decoder.decode(bytes.subarray(from, at + 1));
          events = seen = true;
          from = at + 1;
        }
      } else if (byte === CLOSE || byte === END) {
        deep -= 1;
        if (events && deep === level && begins >= 0) {
          pieces.push(begins, at + 1);
          begins = -1;
        } else if (events && deep < level) {
          parse();
          events = false;
          from = at;
        }
      }
    }
    [depth, inText, escaped, start, inEvents] = [deep, within, skips, begins, events];
    if (inEvents) {
      parse();
      from = start < 0 ? length : start;
    } else {
      // The name of the list that opens next may be half here.
      const kept = Math.max(from, length - NAME);
      if (head.length < LARGEST) head += decoder.decode(bytes.subarray(from, kept));
      from = kept;
    }
    drop(from);
    if (start >= 0) start = 0;
    return length - from;
  }

  return {
    get line() {
      return line;
    },
    take(bytes) {
      const joined = new Uint8Array(rest.length + bytes.length);
      joined.set(rest);
      joined.set(bytes, rest.length);
      rest = joined;
      begun ||= begin();
      if (!begun) return;
      read = scan(read);
      if (read > LARGEST) fault("syntax", 0);
    },
    end() {
      if (!begun) fault("empty", 0);
      // A list of events need not be closed: what writes it may have been stopped.
      if (inText || depth > 0 || (inEvents && !isList)) fault("cut", rest.length);
      let about = {};
      if (!isList) {
        try {
          about = JSON.parse(head + decoder.decode(rest));
        } catch {
          throw new Fault("syntax", { file, line: 1, column: 1 });
        }
      }
      if (!seen) throw new Fault("no-events", { file });
      return rank.document(about);
    },
  };
}

/** Whether the list that opens at a place is called "traceEvents". */
function isNamed(bytes, at) {
  let back = at - 1;
  while (back >= 0 && (SPACES.has(bytes[back]) || bytes[back] === 58)) back -= 1;
  const name = '"traceEvents"';
  if (back + 1 < name.length) return false;
  for (let i = 0; i < name.length; i += 1) {
    if (bytes[back + 1 - name.length + i] !== name.charCodeAt(i)) return false;
  }
  return true;
}

/** Line and column of a byte, counted from those of the first one. */
function placeOf(bytes, at, line, column) {
  let lines = 0, last = -1;
  for (let i = 0; i < at; i += 1) {
    if (bytes[i] === LINE) {
      lines += 1;
      last = i;
    }
  }
  return [line + lines, lines ? at - last : column + at];
}

/** One file's events, as `Rank` of `engine/run/traces/kineto.py` keeps them. */
function createRank(file) {
  const names = createPlaces(), streams = createPlaces(), collectives = createPlaces();
  /** @type {number[]} */
  const starts = [], lengths = [], name = [], stream = [], call = [];
  const steps = [];
  let count = 0, skipped = 0;

  function collective(given) {
    const called = given["Collective name"];
    if (typeof called !== "string") return -1;
    const sizes = ["In msg nelems", "Out msg nelems", "Group size"].map((key) => whole(given[key]) ?? 0);
    const words = ["dtype", "Process Group Name"].map((key) => cut(textOf(given[key])));
    return collectives.place([cut(called), ...sizes, ...words]);
  }

  function device(kind, called, start, length, args) {
    const given = isObject(args) ? args : {};
    const number = whole(given.stream);
    if (number === null) return;
    name.push(names.place([kind, cut(called)]));
    stream.push(streams.place(number));
    call.push(collective(given));
    starts.push(start);
    lengths.push(length);
  }

  function step(kind, called, start, length) {
    const number = called.slice(STEP.length);
    if (!/^\d{1,15}$/.test(number)) return;
    steps.push([Number(number), start, length, Number(kind === "gpu_user_annotation")]);
  }

  return {
    take(event) {
      count += 1;
      if (!isObject(event) || event.ph !== "X" || typeof event.name !== "string") return;
      const kind = textOf(event.cat).toLowerCase();
      const isStep = event.name.startsWith(STEP);
      if (!isStep && !KINDS.has(kind)) return;
      const { ts, dur = 0 } = event;
      if (!isTime(ts, dur)) skipped += 1;
      else if (isStep) step(kind, event.name, ts, dur);
      else device(kind, event.name, ts, dur, event.args);
    },
    document(head) {
      if (!starts.length) throw new Fault("no-gpu", { file, events: count });
      const order = starts.map((_, i) => i).sort((a, b) => starts[a] - starts[b] || a - b);
      const first = starts[order[0]];
      const times = order.map((i) => nanos(starts[i] - first));
      const about = isObject(head.distributedInfo) ? head.distributedInfo : {};
      const base = typeof head.baseTimeNanoseconds === "number" ? head.baseTimeNanoseconds : 0;
      return {
        file,
        rank: whole(about.rank) ?? -1,
        world: whole(about.world_size) ?? 0,
        origin: base / PER_MICRO + first,
        events: count,
        skipped,
        names: names.list,
        streams: streams.list,
        start: times.map((time, i) => time - (i ? times[i - 1] : 0)),
        length: order.map((i) => nanos(lengths[i])),
        name: order.map((i) => name[i]),
        stream: order.map((i) => stream[i]),
        collectives: collectives.list,
        calls: order.flatMap((i, at) => (call[i] < 0 ? [] : [[at, call[i]]])),
        steps: steps.map(([number, start, length, own]) => [
          number, nanos(start - first), nanos(start + length - first), own,
        ]),
      };
    },
  };
}

/** Things and their places, in the order in which they first came. */
function createPlaces() {
  const known = new Map();
  const list = [];
  return {
    list,
    place(thing) {
      const key = JSON.stringify(thing);
      const found = known.get(key);
      if (found !== undefined) return found;
      known.set(key, list.length);
      return list.push(thing) - 1;
    },
  };
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value) {
  return typeof value === "string" ? value : "";
}

function isTime(start, length) {
  return typeof start === "number" && typeof length === "number"
    && Math.abs(start) <= LATEST && length >= 0 && length <= LONGEST;
}

function whole(value) {
  return Number.isSafeInteger(value) && value >= 0 ? value + 0 : null;
}

function nanos(micros) {
  return Math.floor(micros * PER_MICRO + 0.5);
}

/** The beginning of a text, by characters as Python counts them. */
function cut(text) {
  return text.length > LONGEST_NAME ? [...text].slice(0, LONGEST_NAME).join("") : text;
}
