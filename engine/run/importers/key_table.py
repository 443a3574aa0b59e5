"""Tables of a software's keys: what each sets, notes, changes unmodeled, or leaves unchanged."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from engine.run.importers.import_report import (
    ReportEntry,
    RunDraft,
    Setting,
    is_true,
    shorten,
    whole_number,
)
from engine.run.importers.launch import take_launch
from engine.run.importers.unknown_keys import (
    may_change_memory,
    report_unknown,
    settle_conditions,
)

Handler = Callable[[Setting, RunDraft], None]
WORKED = "worked into what is derived below"
_ABSENT = ("none", "null", "", "{}", "[]")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTable:
    """The known keys of a software; a key in none of the fields is not known.

    Attributes:
        counts: key -> path of a run file whose whole number it is.
        noted: key -> name of a note that is a whole number and worked into derived values.
        handlers: key -> what reads it.
        not_modeled: key -> what it may change that the answer does not show; said where it is on.
        without_effect: reason -> keys that change neither time nor memory of a step for it.
    """

    counts: Mapping[str, str] = field(default_factory=dict)
    noted: Mapping[str, str] = field(default_factory=dict)
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    not_modeled: Mapping[str, str] = field(default_factory=dict)
    without_effect: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def joined(self, other: "KeyTable") -> "KeyTable":
        """Return this table with another's keys, which win."""
        reasons = {
            reason: self.without_effect.get(reason, ()) + other.without_effect.get(reason, ())
            for reason in {**self.without_effect, **other.without_effect}
        }
        return KeyTable(
            counts={**self.counts, **other.counts},
            noted={**self.noted, **other.noted},
            handlers={**self.handlers, **other.handlers},
            not_modeled={**self.not_modeled, **other.not_modeled},
            without_effect=reasons,
        )


def read_key(setting: Setting, table: KeyTable, draft: RunDraft) -> None:
    """Read one setting by a table."""
    name = plain_name(setting.key)
    if name in table.handlers:
        table.handlers[name](setting, draft)
    elif name in table.counts or name in table.noted:
        _number(setting, name, table, draft)
    elif name in table.not_modeled:
        if is_off(setting.value):
            draft.report(setting, "understood", "off")
        else:
            draft.report_not_modeled(setting, table.not_modeled[name])
    elif reason := reason_without_effect(name, table):
        draft.report(setting, "without effect", reason)
    else:
        report_unknown(setting, draft)


def reason_without_effect(name: str, table: KeyTable) -> str:
    """Return the reason for which a key has no effect, or ""; `*` at the end of a key is any name.

    The part of a nested key in front of its first point counts as well: `datasets.path`.
    """
    for reason, keys in table.without_effect.items():
        for key in keys:
            if key.endswith("*"):
                if name.startswith(key[:-1]):
                    return reason
            elif name == key or name.startswith(f"{key}."):
                return reason
    return ""


def _number(setting: Setting, name: str, table: KeyTable, draft: RunDraft) -> None:
    if is_absent(setting.value):
        draft.report(setting, "understood", "not set")
        return
    number = whole_number(setting.value)
    if number is None:
        refuse_value(setting, "a whole number is needed", draft)
    elif name in table.counts:
        draft.set_value(setting, table.counts[name], number)
    else:
        draft.notes[table.noted[name]] = number
        draft.report(setting, "understood", WORKED)


def refuse_value(setting: Setting, needed: str, draft: RunDraft) -> None:
    """Report a value that cannot be read, which stops the answer."""
    draft.report(setting, "not known", needed)
    draft.contradictions.append(
        f"line {setting.line}: {shorten(setting.key)} is {shorten(setting.value)}; {needed}"
    )


def remark(draft: RunDraft, key: str, value: object, reason: str, line: int = 0) -> None:
    """Report what the answer leaves out and no single setting says."""
    draft.report_not_modeled(Setting(key=key, value=value, line=line), reason)


def tell(draft: RunDraft, key: str, value: object, why: str) -> None:
    """Report a value that follows from others and is no key of a run file."""
    draft.entries.append(
        ReportEntry(key=key, value=shorten(value), line=0, kind="derived", meaning=why)
    )


def plain_name(key: str) -> str:
    """Return a key without the dashes of a flag and the plus signs of an override."""
    return key.lstrip("-+").replace("-", "_")


def is_absent(value: object) -> bool:
    """Return whether a value says nothing: null, none, an empty text, list or mapping."""
    return value is None or str(value).strip().lower() in _ABSENT


def is_off(value: object) -> bool:
    """Return whether a value turns something off, or says nothing."""
    return is_absent(value) or str(value).strip().lower() in ("false", "no", "off", "0", "0.0")


def is_on(setting: Setting, draft: RunDraft) -> bool | None:
    """Return whether a setting is on; None where it was reported: off, or no truth value."""
    if is_off(setting.value):
        draft.report(setting, "understood", "off")
        return None
    if is_true(setting.value):
        return True
    refuse_value(setting, "true or false is needed", draft)
    return None


def switch(path: str, on: object, off: object = None) -> Handler:
    """Return a reader of true and false: the values of a path for both; None sets nothing."""

    def read(setting: Setting, draft: RunDraft) -> None:
        if off is not None and is_off(setting.value):
            draft.set_value(setting, path, off)
        elif is_on(setting, draft):
            draft.set_value(setting, path, on)

    return read


def note_number(
    name: str, least: int | None = 1, meaning: str = WORKED, unset: tuple[str, ...] = ()
) -> Handler:
    """Return a reader that keeps a whole number for what is derived from it.

    Below `least` it is refused, None allows any; words of `unset` say, as no value does, that none
    is set.
    """

    def read(setting: Setting, draft: RunDraft) -> None:
        number = whole_number(setting.value)
        if is_absent(setting.value) or str(setting.value) in unset:
            draft.report(setting, "understood", "not set")
        elif number is None or (least is not None and number < least):
            refuse_value(setting, "a whole number is needed", draft)
        else:
            draft.notes[name] = number
            draft.report(setting, "understood", meaning)

    return read


def note_text(name: str) -> Handler:
    """Return a reader that keeps a value for what is derived from it."""

    def read(setting: Setting, draft: RunDraft) -> None:
        if not is_absent(setting.value):
            draft.notes[name] = setting.value
        draft.report(setting, "understood", WORKED)

    return read


def read_launch(setting: Setting, draft: RunDraft) -> bool:
    """Read what a script says of its processes, and what no branch of it decides.

    Return whether the setting was of this kind.
    """
    certain = list(settle_conditions([setting], draft, may_change_memory))
    return not certain or not take_launch(certain, draft)
