"""Validation of a document's values: one line for each value of the wrong kind.

Values are in SI units. A size or a rate may also be a text with its unit, as typed on a page.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from engine.core.closest_name import closest
from engine.core.input_units import BILLIONS, GBITS, GBYTES_PER_SECOND, GIGABYTES, Unit
from engine.core.parsing import parse_number

# A pair of numbers is a range of whole numbers, a float the bound that a number must exceed, a
# tuple of words the choices, `bool` true or false.
Kind = tuple[int, int] | float | tuple[str, ...] | type[bool]
LARGEST = 10**9
_LARGEST_RATE = 1e18
_LONGEST = 80
# No range reaches so far, and no message shows so much.
_DIGITS = 100
# Keys whose value may be a text with a unit, wherever they stand, and an example of one.
UNITS: Mapping[str, tuple[Unit, str]] = {
    "nic_bandwidth": (GBITS, "400 Gb/s"),
    "memory": (GIGABYTES, "96 GB"),
    "memory_bandwidth": (GBYTES_PER_SECOND, "2.4 TB/s"),
    "scale_up": (GBYTES_PER_SECOND, "450 GB/s"),
    "pcie": (GBYTES_PER_SECOND, "63 GB/s"),
    "power_limit": (Unit(" W", 1, {"kW": 1e3}), "500 W"),
    "tokens": (BILLIONS, "15T"),
}


class Spec(dict[str, tuple[Kind, Any]]):
    """The keys of a section with kind and default; `...` marks a required key."""

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Return key -> default, in the order of the keys."""
        return {key: default for key, (_, default) in self.items()}

    @cached_property
    def required(self) -> frozenset[str]:
        """Return the keys that must be there."""
        return frozenset(key for key, (_, default) in self.items() if default is ...)

    @cached_property
    def tests(self) -> dict[str, Callable[[object], bool]]:
        """Return key -> whether a value is of its kind."""
        return {key: _kind_test(kind) for key, (kind, _) in self.items()}


def load_json(text: str) -> object:
    """Return the document of a JSON text; overlong integers are cut to their first digits.

    Whatever reads the document then names its key and what is allowed there.

    Raises:
        ValueError: the text is no JSON.
    """
    return json.loads(text, parse_int=lambda digits: int(digits[:_DIGITS]))


def read_section(name: str, section: object, spec: Spec, problems: list[str]) -> dict[str, Any]:
    """Return the values of a section with defaults; append problems to `problems`."""
    if not isinstance(section, Mapping):
        missing = "missing" if section is ... else format_value(section)
        problems.append(f"{name}: {missing}; allowed: an object with {', '.join(spec)}")
        return {}
    if _is_valid(section, spec):
        return {**spec.defaults, **section}
    if not section.keys() <= spec.keys():
        report_unknown_keys(f"{name}.", section, tuple(spec), problems)
    values: dict[str, Any] = {}
    for key, (kind, default) in spec.items():
        if key in section:
            values[key] = read_value(f"{name}.{key}", section[key], kind, problems)
        elif default is ...:
            read_value(f"{name}.{key}", ..., kind, problems)
        else:
            values[key] = default
    return values


def report_unknown_keys(
    path: str, section: Mapping[Any, Any], allowed: tuple[str, ...], problems: list[str]
) -> None:
    """Append the unknown keys to `problems`."""
    problems += [
        f"{path}{printable_key(key)}: {format_value(section[key])}; unknown key; allowed: "
        f"{', '.join(allowed)}{suggestion(str(key)[:_LONGEST], allowed)}"
        for key in section
        if key not in allowed
    ]


def read_value(path: str, value: object, kind: Kind, problems: list[str]) -> Any:  # noqa: ANN401
    """Return a value, in SI units; append its problem, if any, to `problems`."""
    key = path.rpartition(".")[2]
    stated, value = value, in_si(key, value)
    if not _matches_kind(value, kind):
        missing = "missing" if stated is ... else format_value(stated)
        typed = key in UNITS and isinstance(stated, str)
        with_unit = f', or a text with its unit, such as "{UNITS[key][1]}"' if typed else ""
        problems.append(f"{path}: {missing}; allowed: {_allowed_values(kind)}{with_unit}")
    return value


def in_si(key: str, value: object) -> object:
    """Return the value of a key, a text with a unit as a number in SI units.

    A number without a unit stays a text, since nobody can tell what it counts.
    """
    if key not in UNITS or not isinstance(value, str):
        return value
    unit, text = UNITS[key][0], value
    units = {unit.text.strip(): unit.size, **unit.also}
    try:
        number, bare = parse_number(text, 0.0, units), parse_number(text, 1.0, units)
    except ValueError:
        return text
    if number != bare:
        return text
    return int(number) if number == int(number) else number


def _is_valid(section: Mapping[Any, Any], spec: Spec) -> bool:
    """Return whether a section is valid: the fast path, since almost every one is."""
    tests = spec.tests
    for key, value in section.items():
        test = tests.get(key)
        if test is None or not test(value):
            return False
    return section.keys() >= spec.required


def _matches_kind(value: object, kind: Kind) -> bool:
    """Return whether a value is of a kind."""
    return _kind_test(kind)(value)


def _kind_test(kind: Kind) -> Callable[[object], bool]:
    """Return the predicate for a kind; true and false are not numbers."""
    if kind is bool:
        return lambda value: value is True or value is False
    if isinstance(kind, float):
        # bool is no exact int; what is no number is not compared.
        return lambda value: type(value) in (int, float) and kind < value <= _LARGEST_RATE  # type: ignore[operator]
    if not isinstance(kind, tuple):
        raise TypeError(kind)
    first, last = kind[0], kind[-1]
    if isinstance(first, int) and isinstance(last, int):
        return lambda value: type(value) is int and first <= value <= last
    return lambda value: isinstance(value, str) and value in kind


def _allowed_values(kind: Kind) -> str:
    """Return the allowed values of a kind, in words."""
    if kind is bool:
        return "true or false"
    if isinstance(kind, float):
        return f"a number above {kind:.0f}, at most 1e18"
    if not isinstance(kind, tuple):
        raise TypeError(kind)
    if isinstance(kind[0], str):
        return ", ".join(map(str, kind))
    low, high = kind
    return f"a whole number from {low} to {high}"


def check_words(path: str, words: object, allowed: tuple[str, ...], problems: list[str]) -> None:
    """Append a problem unless the value is a list of distinct words out of `allowed`."""
    fine = (
        isinstance(words, list)
        and words
        and all(isinstance(word, str) and word in allowed for word in words)
        and len(set(words)) == len(words)
    )
    if not fine:
        names = ", ".join(allowed)
        problems.append(
            f"{path}: {format_value(words)}; allowed: a list of different names out of {names}"
        )


def suggestion(word: str, names: Iterable[str]) -> str:
    """Return "; did you mean 'NAME'?" with the closest name, empty where none is close."""
    near = closest(word, names)
    return f"; did you mean '{near}'?" if near else ""


def printable_key(key: object) -> str:
    """Return a key as short printable text on one line."""
    text = json.dumps(str(key))[1:-1]
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def format_value(value: object) -> str:
    """Return a value on one short line."""
    try:
        text = json.dumps(value, default=str)
    except (RecursionError, ValueError):
        return "a value nested too deeply or too long to show"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
