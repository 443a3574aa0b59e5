"""Values of a document: what each key is, and one line for each that is something else."""

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

# A pair of numbers is a range of whole numbers, a float the bound that a number must exceed, a
# tuple of words the choices, `bool` true or false.
Kind = tuple[int, int] | float | tuple[str, ...] | type[bool]
LARGEST = 10**9
_LARGEST_RATE = 1e18
_LONGEST = 80
# No range reaches so far, and no message shows so much.
_DIGITS = 100


class Spec(dict[str, tuple[Kind, Any]]):
    """The keys of a section: what each is, and its default; `...` marks one that must be there."""

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
        return {key: _test(kind) for key, (kind, _) in self.items()}


def loaded(text: str) -> object:
    """Return a document from its JSON; of a number that is too long for Python, the first digits.

    Whatever reads the document then names its key and what is allowed there.

    Raises:
        ValueError: the text is no JSON.
    """
    return json.loads(text, parse_int=lambda digits: int(digits[:_DIGITS]))


def section(name: str, given: object, spec: Spec, found: list[str]) -> dict[str, Any]:
    """Return the values of a section, defaults filled in; add what is wrong to `found`."""
    if not isinstance(given, Mapping):
        missing = "missing" if given is ... else shown(given)
        found.append(f"{name}: {missing}; allowed: an object with {', '.join(spec)}")
        return {}
    if _is_sound(given, spec):
        return {**spec.defaults, **given}
    if not given.keys() <= spec.keys():
        unknown(f"{name}.", given, tuple(spec), found)
    values: dict[str, Any] = {}
    for key, (kind, default) in spec.items():
        if key in given:
            values[key] = value(f"{name}.{key}", given[key], kind, found)
        elif default is ...:
            value(f"{name}.{key}", ..., kind, found)
        else:
            values[key] = default
    return values


def unknown(
    path: str, given: Mapping[Any, Any], allowed: tuple[str, ...], found: list[str]
) -> None:
    """Add to `found` the keys that nothing is known of."""
    found += [
        f"{path}{plain_key(key)}: {shown(given[key])}; unknown key; allowed: {', '.join(allowed)}"
        for key in given
        if key not in allowed
    ]


def value(path: str, given: object, kind: Kind, found: list[str]) -> Any:  # noqa: ANN401
    """Return a value as it is; add to `found` what is wrong with it."""
    if not _fits(given, kind):
        missing = "missing" if given is ... else shown(given)
        found.append(f"{path}: {missing}; allowed: {_allowed(kind)}")
    return given


def _is_sound(given: Mapping[Any, Any], spec: Spec) -> bool:
    """Return whether a section has nothing wrong; almost every one is sound, and read once."""
    tests = spec.tests
    for key, one in given.items():
        test = tests.get(key)
        if test is None or not test(one):
            return False
    return given.keys() >= spec.required


def _fits(given: object, kind: Kind) -> bool:
    """Return whether a value is of a kind."""
    return _test(kind)(given)


def _test(kind: Kind) -> Callable[[object], bool]:
    """Return what says whether a value is of a kind; true and false are no numbers."""
    if kind is bool:
        return lambda given: given is True or given is False
    if isinstance(kind, float):
        # bool is no exact int; what is no number is not compared.
        return lambda given: type(given) in (int, float) and kind < given <= _LARGEST_RATE  # type: ignore[operator]
    if not isinstance(kind, tuple):
        raise TypeError(kind)
    first, last = kind[0], kind[-1]
    if isinstance(first, int) and isinstance(last, int):
        return lambda given: type(given) is int and first <= given <= last
    return lambda given: isinstance(given, str) and given in kind


def _allowed(kind: Kind) -> str:
    """Return what a kind allows, in words."""
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


def words_of(path: str, given: object, allowed: tuple[str, ...], found: list[str]) -> None:
    """Add to `found` what is not a list of different words out of `allowed`."""
    fine = (
        isinstance(given, list)
        and given
        and all(isinstance(word, str) and word in allowed for word in given)
        and len(set(given)) == len(given)
    )
    if not fine:
        names = ", ".join(allowed)
        found.append(f"{path}: {shown(given)}; allowed: a list of different names out of {names}")


def plain_key(key: object) -> str:
    """Return a key on one line, however odd it is."""
    text = json.dumps(str(key))[1:-1]
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def shown(given: object) -> str:
    """Return a value on one short line."""
    try:
        text = json.dumps(given, default=str)
    except (RecursionError, ValueError):
        return "a value nested too deeply or too long to show"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
