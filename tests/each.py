"""`@each("field", FIELDS)` in place of `@pytest.mark.parametrize`: one test tries all the cases.

`parametrize` makes a test of every case; thousands of small ones cost more to collect, to deal
out and to report than to run. This makes one test of them (or one of each group), which tries all
and names those that fail. Several on one test try every combination.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from _pytest.mark import ParameterSet

Test = Callable[..., None]
Ids = Callable[[Any], object] | Iterable[object] | None
SHOWN, LONGEST = 20, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a test is called with, and how that is named in the message."""

    name: str
    values: dict[str, Any]


class CasesFailed(AssertionError):
    """Some of the cases of a test failed; the message names them."""


def each(
    names: str | Sequence[str],
    cases: Iterable[Any] | Callable[[], Iterable[Any]],
    *,
    ids: Ids = None,
    by: bool = False,
) -> Callable[[Test], Test]:
    """Call the decorated test with every case in turn, and fail if any case does.

    Args:
        names: the arguments that a case gives, as for `parametrize`.
        cases: values, tuples of values, or `pytest.param(..., id=...)`; a function that returns
            them is called when the test runs, so that costly ones cost nothing when others do.
        ids: how a value is named, or the names of the cases, as for `parametrize`.
        by: make one test of each group, which is what a name has before its first dot or dash.
    """
    keys = [one.strip() for one in names.split(",")] if isinstance(names, str) else list(names)

    @functools.cache
    def own() -> list[Case]:
        listed = list(cases() if callable(cases) else cases)
        given = [None] * len(listed) if ids is None or callable(ids) else list(ids)
        call = ids if callable(ids) else _short
        found = [_case(one, keys, name, call) for one, name in zip(listed, given, strict=True)]
        assert found, f"there is no case for {names}"
        return found

    def decorate(test: Test) -> Test:
        inner, before, known = getattr(test, "cases_of", (test, _no_cases, []))

        @functools.cache
        def together() -> list[Case]:
            return [_joined(one, other) for one in own() for other in before()]

        folded = _folded(inner, together, [*keys, *known], like=test, by=by)
        folded.cases_of = (inner, together, [*keys, *known])  # type: ignore[attr-defined]
        return folded

    return decorate


def _no_cases() -> list[Case]:
    return [Case(name="", values={})]


def _folded(
    test: Test, cases: Callable[[], list[Case]], keys: list[str], *, like: Test, by: bool
) -> Test:
    @functools.cache
    def groups() -> dict[str, list[Case]]:
        found: dict[str, list[Case]] = {}
        for case in cases():
            found.setdefault(re.split("[.-]", case.name)[0] if by else "", []).append(case)
        return found

    @functools.wraps(like)  # with the marks that it has so far
    def folded(group: str = "", **fixtures: Any) -> None:
        __tracebackhide__ = True
        _try(groups()[group], test, fixtures)

    parameters = inspect.signature(test).parameters.values()
    kept = [one for one in parameters if one.name not in keys]
    if by:
        kept.append(inspect.Parameter("group", inspect.Parameter.KEYWORD_ONLY))
    folded.__signature__ = inspect.Signature(kept)  # type: ignore[attr-defined]
    return pytest.mark.parametrize("group", list(groups()))(folded) if by else folded


def _case(given: Any, keys: list[str], name: object, call: Callable[[Any], object]) -> Case:
    if isinstance(given, ParameterSet):
        values, name = given.values, given.id if name is None else name
    else:
        values = given if len(keys) > 1 else (given,)
    told = "-".join(str(call(value)) for value in values) if name is None else str(name)
    return Case(name=told, values=dict(zip(keys, values, strict=True)))


def _short(value: object) -> str:
    told = getattr(value, "__name__", None) or str(value)
    return told if len(told) <= LONGEST else told[:LONGEST] + "…"


def _joined(one: Case, other: Case) -> Case:
    name = "-".join(filter(None, (one.name, other.name)))
    return Case(name=name, values=one.values | other.values)


def _try(cases: list[Case], test: Test, fixtures: dict[str, Any]) -> None:
    __tracebackhide__ = True
    failed: list[tuple[str, BaseException]] = []
    for case in cases:
        try:
            test(**case.values, **fixtures)
        except (Exception, pytest.fail.Exception) as error:
            failed.append((case.name, error))
    if failed:
        shown = [f"{name}: {type(error).__name__}: {error}" for name, error in failed[:SHOWN]]
        more = [f"and {len(failed) - SHOWN} more"] if len(failed) > SHOWN else []
        heading = f"{len(failed)} of {len(cases)} cases failed:"
        raise CasesFailed("\n".join([heading, *shown, *more])) from failed[0][1]
