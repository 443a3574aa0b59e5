"""Import report: every setting of a text with its line and how it was interpreted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.run.importers.text_error import TextError as TextError
from engine.run.importers.text_error import shorten as shorten

# "not modeled": what the answer leaves out; "not known": a key of a known format that is not
# known here; "not read": a text that no reader takes.
Kind = Literal[
    "understood", "derived", "assumed", "without effect", "not modeled", "not known", "not read"
]
OFFLOADED = "offloading is not predicted: the GPU holds less than shown, and the step takes longer"
LONGEST_TEXT = 1_000_000
# What must be one or more; a switch is no number below one.
_DEGREES = ("parallelism.", "training.micro", "training.global", "sequence_length")
_STAGE = "parallelism.zero_stage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting of a text: key, value and line.

    Attributes:
        key: as the text writes it.
        value: as read; `True` for a switch.
        line: counted from 1.
        condition: of a script's branch that nothing in the text decides; otherwise empty.
        branches: conditions and branches that it stands in, by number.
        program: whose flag it is: a launcher's name, that of a script or module, empty where no
            command says it.
    """

    key: str
    value: Any
    line: int
    condition: str = ""
    branches: tuple[tuple[int, int], ...] = ()
    program: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportEntry:
    """The interpretation of one setting.

    Attributes:
        key: as the text writes it; of an assumption that of the run file.
        value: as the text writes it, shortened.
        line: counted from 1; 0 where no line says it.
        kind: what became of it.
        meaning: what it is in the run file, or why it is not.
    """

    key: str
    value: str
    line: int
    kind: Kind
    meaning: str


@dataclass(slots=True, kw_only=True)
class RunDraft:
    """A run file under construction.

    Attributes:
        values: path of a run file's key -> value.
        lines: path -> the line that said so.
        entries: of all keys so far.
        warnings: what the answer may leave out, a clause each, shown at the verdict.
        contradictions: sentences.
        notes: what derivation needs and a run file has no key for.
        dialects: names of what was recognized.
    """

    values: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    entries: list[ReportEntry] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    contradictions: list[str] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    dialects: list[str] = field(default_factory=list)

    def set_value(self, setting: Setting, path: str, value: Any) -> None:  # noqa: ANN401
        """Set `path` to a value and report the setting; record contradictions."""
        if path.startswith(_DEGREES) and _is_too_small(path, value):
            self.contradictions.append(
                f"line {setting.line}: {shorten(setting.key)} is {shorten(value)}; at least 1 is "
                "needed"
            )
            self.report(setting, "not known", "no number that can be")
            return
        if path == "training.precision" and "bf16" in (value, self.values.get(path, "")):
            # Products in 8 or 4 bits are named beside the 16 bits of the rest.
            before = self.values.get(path, value)
            value = before if value == "bf16" else value
        elif path in self.values and self.values[path] != value and self.lines.get(path):
            self.contradictions.append(
                f"line {setting.line}: {shorten(setting.key)} says {shorten(value)}, line "
                f"{self.lines[path]} says {shorten(self.values[path])} for {path}; "
                "the later one is taken."
            )
        self.values[path] = value
        self.lines[path] = setting.line
        self.report(setting, "understood", f"{path} = {shorten(value)}")

    def report_not_modeled(self, setting: Setting, meaning: str) -> None:
        """Report a setting whose effect the answer leaves out, and warn of it."""
        self.report(setting, "not modeled", meaning)
        where = f" (line {setting.line})" if setting.line else ""
        self.warnings.append(f"{shorten(setting.key)}{where}: {meaning}")

    def derive(self, path: str, value: Any, why: str) -> None:  # noqa: ANN401
        """Set a value derived from other settings, and report it."""
        self.values[path] = value
        self.entries.append(
            ReportEntry(key=path, value=shorten(value), line=0, kind="derived", meaning=why)
        )

    def assume(self, path: str, value: Any, why: str) -> None:  # noqa: ANN401
        """Set a default value unless a setting gave one, and report it."""
        if path in self.values:
            return
        self.values[path] = value
        self.entries.append(
            ReportEntry(key=path, value=shorten(value), line=0, kind="assumed", meaning=why)
        )

    def report(self, setting: Setting, kind: Kind, meaning: str) -> None:
        """Append a report entry for a setting."""
        self.entries.append(
            ReportEntry(
                key=shorten(setting.key),
                value=shorten(setting.value),
                line=setting.line,
                kind=kind,
                meaning=meaning,
            )
        )

    def get(self, path: str, default: Any = 1) -> Any:  # noqa: ANN401
        """Return a value, or a default."""
        return self.values.get(path, default)


def _is_too_small(path: str, value: object) -> bool:
    number = isinstance(value, int) and not isinstance(value, bool)
    return number and path != _STAGE and int(str(value)) < 1


def whole_number(value: object) -> int | None:
    """Return a whole number, or None; of a text at most 18 digits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 10**18 else None
    if isinstance(value, float):
        return int(value) if value == value and abs(value) < 1e18 and value == int(value) else None
    text = str(value).strip().replace("_", "")
    body = text.removeprefix("-")
    return int(text) if body.isascii() and body.isdigit() and len(body) <= 18 else None


def positive_number(value: object) -> int | None:
    """Return a whole number of at least 1, or None."""
    number = whole_number(value)
    return number if number is not None and number > 0 else None


def is_true(value: object) -> bool:
    """Return whether a value means true; a switch without a value does."""
    return value is True or str(value).strip().lower() in ("true", "1", "yes", "on")


def flatten(
    tree: Mapping[str, Any], line_of: Mapping[str, int] | None = None, depth: int = 8
) -> list[Setting]:
    """Return the leaves of a nested object, their keys joined by points."""
    settings: list[Setting] = []
    _collect_leaves(tree, "", line_of or {}, depth, settings)
    return settings


def _collect_leaves(
    tree: Mapping[str, Any],
    path: str,
    lines: Mapping[str, int],
    depth: int,
    settings: list[Setting],
) -> None:
    for key, value in tree.items():
        name = f"{path}{key}"
        if isinstance(value, Mapping) and value and depth:
            _collect_leaves(value, f"{name}.", lines, depth - 1, settings)
        else:
            line = lines.get(name) or lines.get(str(key)) or 0
            settings.append(Setting(key=name, value=value, line=line))
