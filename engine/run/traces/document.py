"""Trace document: GPU event times as integer columns, from any trace reader.

It is JSON: {"trace": 1, "ranks": [...]} as `engine.run.traces.kineto` makes it, or {"trace": 1,
"fault": {...}} where a file could not be read; the sentences on faults stand here, for the page
and the terminal alike. Kineto's own JSON is taken as well, of several ranks each under a line
"--- name ---".
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from engine.core.units import NANO, Bytes, Count, Seconds
from engine.run.importers.text_error import TextError, shorten
from engine.run.traces.kineto import Document, TraceFault, document_of, read_kineto

MOST_EVENTS: Count = 600_000
MOST_RANKS: Count = 64
LONGEST_TRACE = 24_000_000
_HEAD = re.compile(r"^--- (.{1,200}) ---$", re.MULTILINE)
# Bytes of an element, by PyTorch's name of its type, in lower case.
ELEMENTS: Mapping[str, Bytes] = {
    "float": 4, "bfloat16": 2, "half": 2, "double": 8, "int": 4, "long": 8, "short": 2,
    "byte": 1, "char": 1, "bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip
LESS = (
    "Record less: one or two steps (schedule(wait=1, warmup=1, active=1)), with_stack=False, and "
    "activities=[ProfilerActivity.CUDA]."
)
_FAULTS: Mapping[str, str] = {
    "empty": "{file}: the file is empty",
    "not-json": "{file}, line {line}, column {column}: a trace begins with {{ or [, this file with "
    "'{beginning}'. Choose the JSON file of the profiler, plain or gzip",
    "syntax": "{file}, line {line}, column {column}: this is no JSON, or the event that begins "
    "here is none",
    "cut": "{file}, line {line}, column {column}: the file ends before its JSON does; it was cut "
    "while it was written or copied",
    "gzip": "{file}: the gzip data is damaged or cut{after}; copy the file again",
    "no-events": "{file}: JSON, but without traceEvents, the list that a profiler's trace has",
    "no-gpu": "{file}: {events} events, and none of them ran on a GPU. Record with "
    "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
    "too-many": "{file}: more GPU events than are read here. " + LESS,
    "unreadable": "{file}: the browser could not read the file",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedCollective:
    """A collective as its kernel records it.

    Attributes:
        name: as PyTorch calls it.
        size: of the larger of its two buffers, on one rank; 0 where none is recorded.
        ranks: of its group; 0 where none is recorded.
        group: name of the process group.
    """

    name: str
    size: Bytes
    ranks: Count
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilerStep:
    """A step marked by the profiler; `device`: on the GPU itself."""

    number: Count
    start: Seconds
    end: Seconds
    device: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTrace:
    """GPU events of one rank by start time, relative to the first event.

    Attributes:
        file: its name.
        rank: as the trace says; -1 where it does not.
        world_size: likewise; 0 where it does not.
        gpu: name of the GPUs of its host; empty where it does not say.
        origin: when the times begin, by the host's clock.
        events: of the file, all kinds.
        skipped: events whose times are no times.
        names: (kind, name) of what ran.
        streams: as the trace numbers them.
        start, end: of each event.
        name, stream: of each event, places in `names` and `streams`.
        calls: place of an event -> the collective it is.
        steps: that the profiler marked.
    """

    file: str
    rank: int
    world_size: Count
    gpu: str
    origin: Seconds
    events: Count
    skipped: Count
    names: tuple[tuple[str, str], ...]
    streams: tuple[int, ...]
    start: tuple[Seconds, ...]
    end: tuple[Seconds, ...]
    name: tuple[int, ...]
    stream: tuple[int, ...]
    calls: Mapping[int, TracedCollective]
    steps: tuple[ProfilerStep, ...]

    @property
    def title(self) -> str:
        """The name of its file, on one short line."""
        return shorten(self.file or "the trace")

    @property
    def called(self) -> str:
        """The trace's name within a sentence."""
        if self.rank >= 0:
            return f"rank {self.rank}"
        # Braces mean something in sentences.
        return shorten(self.file.replace("{", "(").replace("}", ")") or "the trace")


@lru_cache(maxsize=4)
def read_traces(text: str) -> tuple[RankTrace, ...]:
    """Return the ranks of a document, or of Kineto's own JSON, in the order of their numbers.

    Raises:
        TextError: what is wrong, where, and in which file.
    """
    try:
        document = json.loads(text) if text[:40].replace(" ", "").startswith('{"trace":1') else None
    except ValueError:
        raise TextError("what was handed over is damaged; drop the file again") from None
    try:
        content = document if document is not None else kineto_document(text)
    except TraceFault as fault:
        content = {"fault": fault.parts}
    if "fault" in content:
        raise TextError(fault_message(content["fault"]))
    try:
        ranks = [_read_rank(entry) for entry in content["ranks"]]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise TextError("what was handed over is damaged; drop the file again") from None
    if not 1 <= len(ranks) <= MOST_RANKS:
        raise TextError(f"{len(ranks)} files; 1 to {MOST_RANKS} are read")
    if sum(len(rank.start) for rank in ranks) > MOST_EVENTS:
        raise TextError(fault_message({"kind": "too-many", "file": ranks[0].file}))
    return tuple(sorted(ranks, key=lambda rank: rank.rank))


def kineto_document(text: str) -> Document:
    """Return the document of Kineto's JSON, of several files each under its name."""
    heads = list(_HEAD.finditer(text)) if text.startswith("--- ") else []
    if not heads:
        return document_of([read_kineto(text, "this text")])
    ends = [*(head.start() for head in heads[1:]), len(text)]
    parts = zip(heads, ends, strict=True)
    return document_of([read_kineto(text[head.end() : end], head[1]) for head, end in parts])


def fault_message(fault: object) -> str:
    """Return the sentence on the fault that makes a file no trace."""
    parts = fault if isinstance(fault, Mapping) else {}
    words = _FAULTS.get(str(parts.get("kind")), _FAULTS["unreadable"])
    values = {key: shorten(parts.get(key, "")) for key in ("file", "beginning")}
    values |= {key: f"{_count(parts.get(key)):,}" for key in ("line", "column", "events", "bytes")}
    values["file"] = values["file"] or "the file"
    location = f" after {values['bytes']} unpacked bytes, in line {values['line']}"
    values["after"] = location if parts.get("bytes") else ""
    sentence = words.format(**values)
    return sentence if sentence.endswith(".") else sentence + "."


def _count(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0


def _read_rank(entry: Mapping[str, Any]) -> RankTrace:
    columns = [[_whole(x) for x in entry[key]] for key in ("start", "length", "name", "stream")]
    deltas, lengths, names, streams = columns
    starts = list(accumulate(deltas))
    kinds = tuple((str(kind), str(name)) for kind, name in entry["names"])
    numbers = tuple(_whole(stream) for stream in entry["streams"])
    count = len(starts)
    if not count or {len(column) for column in columns} != {count}:
        raise ValueError("columns are not equally long")
    if min(deltas) < 0 or min(lengths) < 0 or min(names) < 0 or min(streams) < 0:
        raise ValueError("a number is below zero")
    if max(names) >= len(kinds) or max(streams) >= len(numbers) or starts[-1] > 1e19:
        raise ValueError("a number is too large")
    collectives = [_read_collective(*row) for row in entry["collectives"]]
    return RankTrace(
        file=str(entry["file"]),
        rank=_whole(entry["rank"]),
        world_size=_whole(entry["world"]),
        gpu=str(entry.get("gpu", "")),
        origin=float(entry["origin"]) * 1000 * NANO,
        events=_whole(entry["events"]),
        skipped=_whole(entry["skipped"]),
        names=kinds,
        streams=numbers,
        start=tuple(NANO * at for at in starts),
        end=tuple(NANO * (at + long) for at, long in zip(starts, lengths, strict=True)),
        name=tuple(names),
        stream=tuple(streams),
        calls={at: collectives[which] for at, which in entry["calls"] if 0 <= at < count},
        steps=_read_steps(entry["steps"]),
    )


def _read_steps(rows: Sequence[Sequence[int]]) -> tuple[ProfilerStep, ...]:
    marks = (
        ProfilerStep(number=n, start=NANO * a, end=NANO * b, device=bool(d))
        for n, a, b, d in rows
        if abs(a) < 1e19 and abs(b) < 1e19
    )
    return tuple(sorted(marks, key=lambda mark: (mark.start, mark.number)))


def _read_collective(
    name: str, sent: int, got: int, ranks: int, kind: str, group: str
) -> TracedCollective:
    element = ELEMENTS.get(str(kind).lower(), 0)
    size = max(_whole(sent), _whole(got)) * element
    return TracedCollective(name=str(name), size=float(size), ranks=_whole(ranks), group=str(group))


def _whole(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise TypeError(f"{value!r} is no whole number")
