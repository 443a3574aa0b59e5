"""Tests of a shell, `[ $A = b ]`, `[[ $A == b* && -n $C ]]`: true, false, or None: undecided."""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase

from engine.run.importers.shell_sums import evaluate_sum

_NUMBERS: Mapping[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}


def matches(text: str, pattern: str) -> bool:
    """Return whether a text matches a pattern of a shell."""
    return fnmatchcase(text[:500], pattern[:500])


def decide_sum(text: str) -> bool | None:
    """Return whether a sum is not zero."""
    value = evaluate_sum(text)
    return None if value is None else value != 0


def decide_test(words: Sequence[str]) -> bool | None:
    """Return the truth of a test, None if a word of it is not known."""
    words = [word for word in words if word not in ("(", ")")]
    for joins in (("||", "-o"), ("&&", "-a")):
        for at, word in enumerate(words):
            if word in joins and 0 < at < len(words) - 1:
                return _join(joins[0], decide_test(words[:at]), decide_test(words[at + 1 :]))
    if words and words[0] == "!":
        status = decide_test(words[1:])
        return None if status is None else not status
    return _decide_one(words)


def _join(kind: str, left: bool | None, right: bool | None) -> bool | None:
    decisive = kind == "||"
    if decisive in (left, right):
        return decisive
    return None if None in (left, right) else not decisive


def _decide_one(words: Sequence[str]) -> bool | None:
    # A pasted script is read as if it were started without arguments.
    words = ["" if re.fullmatch(r"\$[1-9]\d?", word) else word for word in words]
    if len(words) == 1:
        return None if _unknown(words[0]) else bool(words[0])
    if len(words) == 2 and words[0] in ("-z", "-n"):
        return None if _unknown(words[1]) else (words[1] == "") is (words[0] == "-z")
    return _compare(*words) if len(words) == 3 else None


def _compare(left: str, kind: str, right: str) -> bool | None:
    if left == "$#":
        left = "0"
    if _unknown(left) or _unknown(right):
        return None
    if kind in ("=", "==", "!="):
        return matches(left, right) is (kind != "!=")
    if kind in _NUMBERS and _is_number(left) and _is_number(right):
        return _NUMBERS[kind](int(left), int(right))
    return None


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d{1,18}", text, re.ASCII))


def _unknown(word: str) -> bool:
    return "$" in word
