"""Reader of Kineto JSON, the trace of PyTorch's profiler, reduced to GPU events.

The document that comes out is plain data, as `engine.run.traces.document` reads it. The page's
reader, `theme/runtime/trace/reader.js`, makes the same document of the same file without holding
it in memory as a whole; a test compares the two.

Device events are complete events ("X") of the kinds below with a stream, as in Holistic Trace
Analysis; steps are the profiler's own annotations; sizes of collectives are in the arguments of
their kernels (PyTorch 2.2 and later).
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

KINDS = frozenset({"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset", "mtia_ccp_events"})
STEP = "ProfilerStep#"
LONGEST_NAME = 400
# Microseconds; what lies beyond is no time.
_LATEST, _LONGEST = 1e18, 1e12
_PER_MICRO = 1000

Document = dict[str, Any]


class TraceFault(ValueError):
    """An invalid trace file; `parts` is the document's "fault"."""

    def __init__(self, kind: str, **parts: object) -> None:
        super().__init__(kind)
        self.parts: Document = {"kind": kind, **parts}


def read_kineto(text: str, file: str = "") -> Document:
    """Return the GPU events as one rank of a document.

    Raises:
        Fault: the text is no JSON, no trace, or nothing ran on a GPU.
    """
    trace = _parse_json(text, file)
    if isinstance(trace, list):
        trace = {"traceEvents": trace}
    events = trace.get("traceEvents")
    if not isinstance(events, list):
        raise TraceFault("no-events", file=file)
    rank = Rank(file)
    for event in events:
        rank.take(event)
    return rank.document(trace)


def _parse_json(text: str, file: str) -> Any:  # noqa: ANN401
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    if text[start : start + 1] not in ("{", "["):
        kind = "empty" if start == len(text) else "not-json"
        beginning = text[start : start + 30].split("\n")[0].rstrip("\r")
        raise TraceFault(kind, file=file, beginning=beginning, **_line_and_column(text, start))
    try:
        return json.loads(text[start:], parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        at = start + error.pos
        # A text that never ends is one that was cut in it.
        cut = error.msg.startswith("Unterminated") or not text[at:].strip()
        at = len(text) if cut else at
        raise TraceFault(
            "cut" if cut else "syntax", file=file, **_line_and_column(text, at)
        ) from None
    except (ValueError, RecursionError):
        raise TraceFault("syntax", file=file, **_line_and_column(text, start)) from None


def _reject_constant(constant: str) -> float:
    raise ValueError(constant)


def _line_and_column(text: str, at: int) -> Document:
    line = text.count("\n", 0, at) + 1
    return {"line": line, "column": at - text.rfind("\n", 0, at)}


class Rank:
    """GPU events of one file, collected while reading."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._count = self._skipped = 0
        self._names: dict[tuple[str, str], int] = {}
        self._streams: dict[int, int] = {}
        self._collectives: dict[tuple[Any, ...], int] = {}
        self._rows: list[tuple[float, float, int, int, int]] = []
        self._steps: list[tuple[int, float, float, int]] = []

    def take(self, event: object) -> None:
        """Record an event if it ran on the GPU or marks a step."""
        self._count += 1
        if not isinstance(event, Mapping) or event.get("ph") != "X":
            return
        kind, name = _text(event.get("cat")).lower(), event.get("name")
        if not isinstance(name, str):
            return
        is_step = name.startswith(STEP)
        if not is_step and kind not in KINDS:
            return
        time = _time(event)
        if time is None:
            self._skipped += 1
        elif is_step:
            self._step(kind, name, *time)
        else:
            self._device(kind, name, time, event.get("args"))

    def _step(self, kind: str, name: str, start: float, length: float) -> None:
        number = name.removeprefix(STEP)
        if number.isascii() and number.isdigit() and len(number) <= 15:
            device = int(kind == "gpu_user_annotation")
            self._steps.append((int(number), start, length, device))

    def _device(self, kind: str, name: str, time: tuple[float, float], args: object) -> None:
        arguments: Mapping[str, Any] = args if isinstance(args, Mapping) else {}
        stream = arguments.get("stream")
        if not _is_whole(stream):
            return
        name_at = self._names.setdefault((kind, name[:LONGEST_NAME]), len(self._names))
        stream_at = self._streams.setdefault(int(stream), len(self._streams))
        self._rows.append((*time, name_at, stream_at, self._collective(arguments)))

    def _collective(self, arguments: Mapping[str, Any]) -> int:
        name = arguments.get("Collective name")
        if not isinstance(name, str):
            return -1
        sizes = ("In msg nelems", "Out msg nelems", "Group size")
        words = ("dtype", "Process Group Name")
        key = (
            name[:LONGEST_NAME],
            *(int(arguments[size]) if _is_whole(arguments.get(size)) else 0 for size in sizes),
            *(_text(arguments.get(word))[:LONGEST_NAME] for word in words),
        )
        return self._collectives.setdefault(key, len(self._collectives))

    def document(self, head: Mapping[str, Any]) -> Document:
        """Return the recorded events as one rank of a document.

        Raises:
            Fault: nothing ran on the GPU.
        """
        if not self._rows:
            raise TraceFault("no-gpu", file=self._file, events=self._count)
        rows = sorted(self._rows, key=lambda row: row[0])
        first = rows[0][0]
        starts = [_nanos(row[0] - first) for row in rows]
        about = head.get("distributedInfo")
        about = about if isinstance(about, Mapping) else {}
        base = head.get("baseTimeNanoseconds")
        base = float(base) if _is_number(base) else 0.0
        return {
            "file": self._file,
            "rank": int(about["rank"]) if _is_whole(about.get("rank")) else -1,
            "world": int(about["world_size"]) if _is_whole(about.get("world_size")) else 0,
            "gpu": _gpu_name(head.get("deviceProperties")),
            "origin": base / _PER_MICRO + first,
            "events": self._count,
            "skipped": self._skipped,
            "names": [list(key) for key in self._names],
            "streams": list(self._streams),
            "start": [b - a for a, b in zip([0, *starts], starts, strict=False)],
            "length": [_nanos(row[1]) for row in rows],
            "name": [row[2] for row in rows],
            "stream": [row[3] for row in rows],
            "collectives": [list(key) for key in self._collectives],
            "calls": [[at, row[4]] for at, row in enumerate(rows) if row[4] >= 0],
            "steps": [
                [number, _nanos(start - first), _nanos(start + length - first), device]
                for number, start, length, device in self._steps
            ],
        }


def _gpu_name(devices: object) -> str:
    """Return the name of the GPUs that a trace lists; empty if they differ, or it lists none."""
    rows = devices if isinstance(devices, list) else []
    names = {_text(row.get("name")) if isinstance(row, Mapping) else "" for row in rows}
    return names.pop()[:LONGEST_NAME] if len(names) == 1 else ""


def _time(event: Mapping[str, Any]) -> tuple[float, float] | None:
    start, length = event.get("ts"), event.get("dur", 0)
    if not _is_number(start) or not _is_number(length):
        return None
    if not (abs(start) <= _LATEST and 0 <= length <= _LONGEST):
        return None
    return float(start), float(length)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _is_whole(value: object) -> TypeGuard[int]:
    if isinstance(value, float):
        return math.isfinite(value) and value == math.floor(value) and 0 <= value < 2**53
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _nanos(micros: float) -> int:
    return math.floor(micros * _PER_MICRO + 0.5)


def document_of(ranks: Iterable[Document]) -> Document:
    """Return the document of several files."""
    return {"trace": 1, "ranks": list(ranks)}
