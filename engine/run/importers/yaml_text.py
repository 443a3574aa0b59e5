"""Reader of YAML as settings with lines, from the events of ruamel.yaml (YAML 1.2).

No object is built: only events are taken, so tags construct nothing. What has an anchor may be
repeated, and merged by `<<`, as long as all that is repeated stays small. Refused with line and
column: tags, documents that are too deep, too long, or damaged.
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
_MOST_REPEATED = 2000  # settings that aliases repeat, in all
_MERGE = "<<"


@dataclass(frozen=True, slots=True)
class _Repeated:
    """What an anchor stands for: a single value or a list of them, or the settings of a mapping."""

    value: Any = None
    settings: tuple[tuple[str, Any], ...] | None = None


@dataclass(slots=True)
class _Level:
    """A mapping or list that is being read: its path, the key or place that comes next.

    `first` is the number of its first setting, `merged` what `<<` adds to it, with the line of
    the alias.
    """

    path: str
    is_list: bool
    line: int
    anchor: str | None = None
    first: int = 0
    merged: list[tuple[_Repeated, int]] = field(default_factory=list)
    key: str | None = None
    place: int = 0
    plain: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    """Settings of the events so far, and where the next one belongs."""

    first_line: int
    settings: list[Setting] = field(default_factory=list)
    levels: list[_Level] = field(default_factory=list)
    anchors: dict[str, _Repeated] = field(default_factory=dict)
    repeated: int = 0

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
            self.repeat(event)
        elif isinstance(event, ScalarEvent):
            if _is_tagged(event):
                raise self.refused(event, "a tag ('!') is not read")
            value = parse_scalar(event.value) if event.style is None else event.value
            if event.anchor:
                self.anchors[event.anchor] = _Repeated(value)
            self.value(value, event)

    def repeat(self, event: AliasEvent) -> None:
        """Take what an alias stands for: a value, a mapping, or what `<<` adds to a mapping."""
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            raise self.refused(event, "'*' repeats what has no anchor above it")
        size = len(anchored.value) if isinstance(anchored.value, list) else 1
        self.repeated += max(size, len(anchored.settings or ()))
        if self.repeated > _MOST_REPEATED:
            raise self.refused(event, f"'*' repeats more than {_MOST_REPEATED} settings")
        if anchored.settings is None:
            if isinstance(anchored.value, list) and self.levels and self.levels[-1].is_list:
                raise self.refused(event, "'*' repeats a list within a list")
            self.value(anchored.value, event)
            return
        line = self.first_line + event.start_mark.line
        path = self.next_path(event)
        name = path.rpartition(".")[2]
        level = self.levels[-1] if name == _MERGE else self.levels[-2] if _is_merge(path) else None
        if level is not None:
            level.merged.append((anchored, line))
        else:
            self.add(path, anchored, line)

    def add(self, path: str, anchored: _Repeated, line: int) -> None:
        """Add repeated settings below a path."""
        for key, value in anchored.settings or ():
            name = ".".join(part for part in (path, key) if part)
            self.settings.append(Setting(key=name, value=value, line=line))

    def open(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        if _is_tagged(event):
            raise self.refused(event, "a tag ('!') is not read")
        if len(self.levels) >= _DEEPEST:
            raise self.refused(event, "nested too deeply")
        line = self.first_line + event.start_mark.line
        is_list = isinstance(event, SequenceStartEvent)
        path = self.next_path(event)
        first = len(self.settings)
        self.levels.append(_Level(path, is_list, line, anchor=event.anchor, first=first))

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
        self.merge(level)
        inner = len(self.settings) > level.first
        if level.is_list and (level.plain or not level.place):
            self.settings.append(Setting(key=level.path, value=level.plain, line=level.line))
        elif not level.is_list and level.path and not inner and not _is_merge(level.path):
            self.settings.append(Setting(key=level.path, value="{}", line=level.line))
        if level.anchor:
            self.keep(level, inner=inner)

    def merge(self, level: _Level) -> None:
        """Add what `<<` merges into a mapping: keys that the mapping does not have itself."""
        start = len(level.path) + 1 if level.path else 0
        given = {one.key[start:].partition(".")[0] for one in self.settings[level.first :]}
        for found, line in level.merged:
            fresh = [one for one in found.settings or () if one[0].partition(".")[0] not in given]
            self.add(level.path, _Repeated(settings=tuple(fresh)), line)
            given |= {key.partition(".")[0] for key, _ in fresh}

    def keep(self, level: _Level, *, inner: bool) -> None:
        """Remember what an anchor stands for."""
        if level.is_list and not inner:
            self.anchors[level.anchor or ""] = _Repeated(level.plain)
            return
        start = len(level.path) + 1 if level.path else 0
        below = tuple(
            (setting.key[start:], setting.value) for setting in self.settings[level.first :]
        )
        self.anchors[level.anchor or ""] = _Repeated(settings=below if inner else ())


def _is_merge(path: str) -> bool:
    """Return whether a path is that of an entry of the list behind `<<`."""
    return _MERGE in path.split(".")[-2:]


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
        raise TextError(_error_message(error, first_line)) from None
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


def _error_message(error: MarkedYAMLError, first_line: int) -> str:
    mark = error.problem_mark or error.context_mark
    reason = " ".join(str(error.problem or "the YAML is damaged").split())[:200]
    if mark is None:
        return f"line {first_line}: {reason}"
    return f"line {first_line + mark.line}, column {mark.column + 1}: {reason}"


def _is_tagged(event: MappingStartEvent | SequenceStartEvent | ScalarEvent) -> bool:
    return event.ctag is not None and str(event.ctag) not in ("None", "", "!")


def parse_scalar(text: str) -> Any:  # noqa: ANN401
    """Return the value of a plain scalar: text, number, true or false, nothing."""
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
