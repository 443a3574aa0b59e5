"""Reader of YAML as settings with lines, from the events of ruamel.yaml (YAML 1.2).

No object is built: only events are taken, so tags construct nothing. Refused with line and column:
tags, anchors of mappings and lists, documents that are too deep, too long, or damaged. An anchor of
a single value may be repeated.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.parser import Parser
from ruamel.yaml.reader import Reader
from ruamel.yaml.scanner import Scanner

from engine.run.importers.import_report import Setting, TextError

_DEEPEST = 12
_LONGEST = 200_000
_MOST = 10_000  # events
_LONGEST_LIST = 4096


@dataclass(slots=True)
class _Level:
    """A mapping or list that is being read: its path, the key or place that comes next."""

    path: str
    is_list: bool
    line: int
    key: str | None = None
    place: int = 0
    plain: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    """Settings of the events so far, and where the next one belongs."""

    first_line: int
    settings: list[Setting] = field(default_factory=list)
    levels: list[_Level] = field(default_factory=list)
    anchors: dict[str, Any] = field(default_factory=dict)

    def refused(self, event: Event, reason: str) -> TextError:
        mark = event.start_mark
        line = self.first_line + mark.line
        return TextError(f"line {line}, column {mark.column + 1}: {reason}")

    def take(self, event: Event) -> None:
        if isinstance(event, MappingStartEvent | SequenceStartEvent):
            self.open(event)
        elif isinstance(event, MappingEndEvent | SequenceEndEvent):
            self.close()
        elif isinstance(event, AliasEvent):
            if event.anchor not in self.anchors:
                raise self.refused(event, "'*' repeats what is no single value")
            self.value(self.anchors[event.anchor], event)
        elif isinstance(event, ScalarEvent):
            if _is_tagged(event):
                raise self.refused(event, "a tag ('!') is not read")
            value = parse_scalar(event.value) if event.style is None else event.value
            if event.anchor:
                self.anchors[event.anchor] = value
            self.value(value, event)

    def open(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        if event.anchor or _is_tagged(event):
            raise self.refused(event, "an anchor or a tag of several values is not read")
        if len(self.levels) >= _DEEPEST:
            raise self.refused(event, "nested too deeply")
        line = self.first_line + event.start_mark.line
        is_list = isinstance(event, SequenceStartEvent)
        self.levels.append(_Level(self.next_path(event), is_list, line))

    def next_path(self, event: Event) -> str:
        """Return the path of what begins now, and step over its key or place."""
        if not self.levels:
            return ""
        level = self.levels[-1]
        if level.is_list:
            name, level.place = str(level.place), level.place + 1
        elif level.key is None:
            raise self.refused(event, "a key of several values")
        else:
            name, level.key = level.key, None
        return f"{level.path}.{name}" if level.path else name

    def value(self, value: object, event: Event) -> None:
        if not self.levels:
            if value is not None:
                raise self.refused(event, "no 'key: value' here")
            return
        level = self.levels[-1]
        if level.is_list:
            level.place += 1
            if len(level.plain) < _LONGEST_LIST:
                level.plain.append(value)
        elif level.key is None:
            level.key = str(value)[:200]
        else:
            line = self.first_line + event.start_mark.line
            self.settings.append(Setting(key=self.next_path(event), value=value, line=line))

    def close(self) -> None:
        level = self.levels.pop()
        inner = self.settings and self.settings[-1].key.startswith(f"{level.path}.")
        if level.is_list and (level.plain or not level.place):
            self.settings.append(Setting(key=level.path, value=level.plain, line=level.line))
        elif not level.is_list and level.path and not inner:
            self.settings.append(Setting(key=level.path, value="{}", line=level.line))


def read_yaml(text: str, first_line: int = 1) -> list[Setting]:
    """Return the leaves, their keys joined by points; raise `TextError` with line and column.

    A list of single values is one setting; an entry of another list has its number in the key.
    """
    if len(text) > _LONGEST:
        raise TextError(f"line {first_line}: {len(text)} characters of YAML; at most {_LONGEST}")
    reader = _Reader(first_line)
    try:
        for number, event in enumerate(_events(text)):
            if number > _MOST:
                raise reader.refused(event, f"more than {_MOST} entries")
            reader.take(event)
    except MarkedYAMLError as error:
        raise TextError(_place(error, first_line)) from None
    except (YAMLError, RecursionError):
        raise TextError(f"line {first_line}: the YAML is damaged") from None
    return reader.settings


def _events(text: str) -> Iterator[Event]:
    """Yield the events of a text, from the parts of ruamel.yaml that a browser has as well."""
    version = (1, 2)
    loader = SimpleNamespace(
        processing_version=version,
        comment_handling=None,
        doc_infos=[SimpleNamespace()],
        _reader=None,
        _scanner=None,
        _parser=None,
        _resolver=SimpleNamespace(processing_version=version),
    )
    Reader(text, loader=loader)
    Scanner(loader=loader)
    parser = Parser(loader=loader)
    while parser.check_event():
        yield parser.get_event()


def _place(error: MarkedYAMLError, first_line: int) -> str:
    mark = error.problem_mark or error.context_mark
    reason = " ".join(str(error.problem or "the YAML is damaged").split())[:200]
    if mark is None:
        return f"line {first_line}: {reason}"
    return f"line {first_line + mark.line}, column {mark.column + 1}: {reason}"


def _is_tagged(event: MappingStartEvent | SequenceStartEvent | ScalarEvent) -> bool:
    return event.ctag is not None and str(event.ctag) not in ("None", "", "!")


def parse_scalar(text: str) -> Any:  # noqa: ANN401
    """Return what a plain scalar means: text, number, true or false, nothing."""
    word = text.strip()
    lowered = word.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered in ("null", "none", "~", ""):
        return None
    body = word.removeprefix("-").replace("_", "")
    if body.isascii() and body.isdigit() and len(body) <= 18:
        return int(word.replace("_", ""))
    try:
        return float(word) if len(word) <= 40 and re.fullmatch(r"[-+.\deE_]+", word) else word
    except ValueError:
        return word
