/**
 * Streaming parser of Kineto's JSON traces: parses whole events, keeps those that ran on a GPU and
 * drops the rest. The document is that of `engine/run/traces/kineto.py`, which a test compares with it;
 * what it means is not known here.
 */

const GPU_CATEGORIES = new Set(["kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"]);
const STEP_PREFIX = "ProfilerStep#";
const MAX_NAME_LENGTH = 400;
const MAX_TIME = 1e18;
const MAX_DURATION = 1e12; // microseconds
const NANOSECONDS_PER_MICROSECOND = 1000;
const LIST_NAME_BYTES = 64; // bytes that hold the name of the list of events, with spaces
const MAX_EVENT_BYTES = 1 << 24; // bytes of one event, and characters beside the events, at most
const [QUOTE, ESCAPE, OPEN, CLOSE, LIST, END, NEWLINE] = [34, 92, 123, 125, 91, 93, 10];
const SPACES = new Set([9, 10, 13, 32]);

/** Error of a file that is no valid trace: `parts` are the document's "fault". */
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
  const rank = createRankBuilder(file);
  const decoder = new TextDecoder();
  /** Bytes from the beginning of the event that is not over, or of the text outside of events. */
  let buffer = new Uint8Array(0);
  let line = 1, column = 1; // of the first byte of `rest`
  let depth = 0, inText = false, escaped = false, hasBegun = false, isList = false;
  let inEvents = false, hasEvents = false; // the list of events, and whether there was one
  let start = -1; // of the event that is not over
  /** Whole events that are not parsed yet: start, end, start, end. @type {number[]} */
  let eventRanges = [];
  let outsideText = "";
  let scanned = 0; // bytes of `rest` that were looked at

  function throwFault(kind, offset, more = {}) {
    const [row, place] = lineAndColumn(buffer, offset, line, column);
    throw new Fault(kind, { file, line: row, column: place, ...more });
  }

  /** Forget the bytes up to `at`; what is left is at the new place. */
  function dropBytes(offset) {
    [line, column] = lineAndColumn(buffer, offset, line, column);
    buffer = buffer.subarray(offset);
  }

  function readStart() {
    let offset = 0;
    if (buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) offset = 3;
    while (offset < buffer.length && SPACES.has(buffer[offset])) offset += 1;
    if (offset === buffer.length) return false;
    if (buffer[offset] !== OPEN && buffer[offset] !== LIST) {
      const text = decoder.decode(buffer.subarray(offset, offset + 120));
      throwFault("not-json", offset, { beginning: [...text.split("\n")[0]].slice(0, 30).join("").trimEnd() });
    }
    dropBytes(offset);
    isList = buffer[0] === LIST;
    [inEvents, hasEvents] = [isList, isList];
    return true;
  }

  /** Parse the whole events that were found; if one of them is none, say which. */
  function parseEvents() {
    if (!eventRanges.length) return;
    const first = eventRanges[0], last = eventRanges[eventRanges.length - 1];
    let events;
    try {
      events = JSON.parse(`[${decoder.decode(buffer.subarray(first, last))}]`);
    } catch {
      const badEvent = eventRanges.find((from, i) => i % 2 === 0 && !isValidJson(buffer.subarray(from, eventRanges[i + 1])));
      throwFault("syntax", badEvent ?? first);
    }
    for (const event of events) rank.take(event);
    eventRanges = [];
  }

  function isValidJson(bytes) {
    try {
      JSON.parse(decoder.decode(bytes));
      return true;
    } catch {
      return false;
    }
  }

  /** Look at the bytes from `at` on: where events begin and end, and what stands around them. */
  function scanBytes(offset) {
    const bytes = buffer, { length } = bytes, level = isList ? 1 : 2;
    let from = 0;
    // The loop is over every byte of the file: variables of its own are faster.
    let [deep, within, skips, begins, events] = [depth, inText, escaped, start, inEvents];
    for (; offset < length; offset += 1) {
      const byte = bytes[offset];
      if (within) {
        if (skips) skips = false;
        else if (byte === QUOTE) within = false;
        else if (byte === ESCAPE) skips = true;
      } else if (byte === QUOTE) {
        within = true;
      } else if (byte === OPEN || byte === LIST) {
        if (events && deep === level && begins < 0) begins = offset;
        deep += 1;
        if (!events && deep === 2 && byte === LIST && isEventList(bytes, offset)) {
          outsideText += decoder.decode(bytes.subarray(from, offset + 1));
          events = hasEvents = true;
          from = offset + 1;
        }
      } else if (byte === CLOSE || byte === END) {
        deep -= 1;
        if (events && deep === level && begins >= 0) {
          eventRanges.push(begins, offset + 1);
          begins = -1;
        } else if (events && deep < level) {
          parseEvents();
          events = false;
          from = offset;
        }
      }
    }
    [depth, inText, escaped, start, inEvents] = [deep, within, skips, begins, events];
    if (inEvents) {
      parseEvents();
      from = start < 0 ? length : start;
    } else {
      // The name of the list that opens next may be half here.
      const kept = Math.max(from, length - LIST_NAME_BYTES);
      if (outsideText.length < MAX_EVENT_BYTES) outsideText += decoder.decode(bytes.subarray(from, kept));
      from = kept;
    }
    dropBytes(from);
    if (start >= 0) start = 0;
    return length - from;
  }

  return {
    get line() {
      return line;
    },
    take(bytes) {
      const joined = new Uint8Array(buffer.length + bytes.length);
      joined.set(buffer);
      joined.set(bytes, buffer.length);
      buffer = joined;
      hasBegun ||= readStart();
      if (!hasBegun) return;
      scanned = scanBytes(scanned);
      if (scanned > MAX_EVENT_BYTES) throwFault("syntax", 0);
    },
    end() {
      if (!hasBegun) throwFault("empty", 0);
      // A list of events need not be closed: what writes it may have been stopped.
      if (inText || depth > 0 || (inEvents && !isList)) throwFault("cut", buffer.length);
      let metadata = {};
      if (!isList) {
        try {
          metadata = JSON.parse(outsideText + decoder.decode(buffer));
        } catch {
          throw new Fault("syntax", { file, line: 1, column: 1 });
        }
      }
      if (!hasEvents) throw new Fault("no-events", { file });
      return rank.document(metadata);
    },
  };
}

/** Whether the list that opens at a place is called "traceEvents". */
function isEventList(bytes, offset) {
  let index = offset - 1;
  while (index >= 0 && (SPACES.has(bytes[index]) || bytes[index] === 58)) index -= 1;
  const name = '"traceEvents"';
  if (index + 1 < name.length) return false;
  for (let i = 0; i < name.length; i += 1) {
    if (bytes[index + 1 - name.length + i] !== name.charCodeAt(i)) return false;
  }
  return true;
}

/** Line and column of a byte, counted from those of the first one. */
function lineAndColumn(bytes, offset, line, column) {
  let lines = 0, last = -1;
  for (let i = 0; i < offset; i += 1) {
    if (bytes[i] === NEWLINE) {
      lines += 1;
      last = i;
    }
  }
  return [line + lines, lines ? offset - last : column + offset];
}

/** One file's events, as `Rank` of `engine/run/traces/kineto.py` keeps them. */
function createRankBuilder(file) {
  const names = createIndex(), streams = createIndex(), collectives = createIndex();
  /** @type {number[]} */
  const starts = [], lengths = [], name = [], stream = [], call = [];
  const steps = [];
  let count = 0, skipped = 0;

  function collective(args) {
    const eventName = args["Collective name"];
    if (typeof eventName !== "string") return -1;
    const sizes = ["In msg nelems", "Out msg nelems", "Group size"].map((key) => wholeOrNull(args[key]) ?? 0);
    const words = ["dtype", "Process Group Name"].map((key) => cutName(stringOrEmpty(args[key])));
    return collectives.place([cutName(eventName), ...sizes, ...words]);
  }

  function device(kind, eventName, start, length, args) {
    const values = isObject(args) ? args : {};
    const number = wholeOrNull(values.stream);
    if (number === null) return;
    name.push(names.place([kind, cutName(eventName)]));
    stream.push(streams.place(number));
    call.push(collective(values));
    starts.push(start);
    lengths.push(length);
  }

  function step(kind, eventName, start, length) {
    const number = eventName.slice(STEP_PREFIX.length);
    if (!/^\d{1,15}$/.test(number)) return;
    steps.push([Number(number), start, length, Number(kind === "gpu_user_annotation")]);
  }

  return {
    take(event) {
      count += 1;
      if (!isObject(event) || event.ph !== "X" || typeof event.name !== "string") return;
      const kind = stringOrEmpty(event.cat).toLowerCase();
      const isStep = event.name.startsWith(STEP_PREFIX);
      if (!isStep && !GPU_CATEGORIES.has(kind)) return;
      const { ts, dur = 0 } = event;
      if (!isTime(ts, dur)) skipped += 1;
      else if (isStep) step(kind, event.name, ts, dur);
      else device(kind, event.name, ts, dur, event.args);
    },
    document(head) {
      if (!starts.length) throw new Fault("no-gpu", { file, events: count });
      const order = starts.map((_, i) => i).sort((a, b) => starts[a] - starts[b] || a - b);
      const first = starts[order[0]];
      const times = order.map((i) => toNanoseconds(starts[i] - first));
      const distributed = isObject(head.distributedInfo) ? head.distributedInfo : {};
      const base = typeof head.baseTimeNanoseconds === "number" ? head.baseTimeNanoseconds : 0;
      return {
        file,
        rank: wholeOrNull(distributed.rank) ?? -1,
        world: wholeOrNull(distributed.world_size) ?? 0,
        gpu: gpuName(head.deviceProperties),
        origin: base / NANOSECONDS_PER_MICROSECOND + first,
        events: count,
        skipped,
        names: names.list,
        streams: streams.list,
        start: times.map((time, i) => time - (i ? times[i - 1] : 0)),
        length: order.map((i) => toNanoseconds(lengths[i])),
        name: order.map((i) => name[i]),
        stream: order.map((i) => stream[i]),
        collectives: collectives.list,
        calls: order.flatMap((i, at) => (call[i] < 0 ? [] : [[at, call[i]]])),
        steps: steps.map(([number, start, length, own]) => [
          number, toNanoseconds(start - first), toNanoseconds(start + length - first), own,
        ]),
      };
    },
  };
}

/** Index of distinct items in the order of their first occurrence. */
function createIndex() {
  const places = new Map();
  const list = [];
  return {
    list,
    place(item) {
      const key = JSON.stringify(item);
      const place = places.get(key);
      if (place !== undefined) return place;
      places.set(key, list.length);
      return list.push(item) - 1;
    },
  };
}

/** The name of the GPUs that a trace lists; empty if they differ, or it lists none. */
function gpuName(devices) {
  const rows = Array.isArray(devices) ? devices : [];
  const names = new Set(rows.map((row) => (isObject(row) ? stringOrEmpty(row.name) : "")));
  return names.size === 1 ? cutName([...names][0]) : "";
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function stringOrEmpty(value) {
  return typeof value === "string" ? value : "";
}

function isTime(start, length) {
  return typeof start === "number" && typeof length === "number"
    && Math.abs(start) <= MAX_TIME && length >= 0 && length <= MAX_DURATION;
}

function wholeOrNull(value) {
  return Number.isSafeInteger(value) && value >= 0 ? value + 0 : null;
}

function toNanoseconds(micros) {
  return Math.floor(micros * NANOSECONDS_PER_MICROSECOND + 0.5);
}

/** The beginning of a text, by characters as Python counts them. */
function cutName(text) {
  return text.length > MAX_NAME_LENGTH ? [...text].slice(0, MAX_NAME_LENGTH).join("") : text;
}
