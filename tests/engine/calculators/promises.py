"""The promises that every calculator keeps, and how they are tried: one test per calculator.

A promise is a function of the calculator's name that asserts something. The modules that declare
promises are named here; `test_promises.py` tries all of them for each calculator and names every
promise that is broken.
"""

import functools
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

Promise = Callable[[str], None]
PACKAGE = "tests.engine.calculators"
MODULES = ("test_calculators", "test_fields", "test_receipts")
_PROMISES: dict[str, Promise] = {}


class PromisesBroken(AssertionError):
    """Some promises of a calculator are broken; the message names them."""


def promise(function: Promise) -> Promise:
    """Register a promise under its name."""
    _PROMISES[f"{function.__module__}.{function.__name__}"] = function
    return function


def promise_for_each(
    cases: Callable[[str], Iterable[Any]],
) -> Callable[[Callable[..., None]], Promise]:
    """Register a promise about each of the cases that a calculator has, such as its inputs.

    Args:
        cases: name of a calculator -> (name of the case, arguments) of each.
    """

    def register(function: Callable[..., None]) -> Promise:
        @functools.wraps(function)
        def every(name: str) -> None:
            for key, arguments in cases(name):
                try:
                    function(*arguments)
                except Exception as error:
                    error.add_note(f"of {name}.{key}")
                    raise

        return promise(every)

    return register


def all_promises() -> dict[str, Promise]:
    """Return name -> promise of all that are declared."""
    for module in MODULES:
        import_module(f"{PACKAGE}.{module}")
    return _PROMISES


def keep(name: str) -> None:
    """Try all promises of one calculator.

    Raises:
        PromisesBroken: some are broken; the message names them and says why.
    """
    broken: list[tuple[str, Exception]] = []
    for title, function in all_promises().items():
        try:
            function(name)
        except Exception as error:
            broken.append((title.rpartition(".")[2], error))
    if broken:
        lines = [f"{title}: {type(error).__name__}: {error}" for title, error in broken]
        notes = [note for _, error in broken for note in getattr(error, "__notes__", [])]
        raise PromisesBroken("\n".join([*lines, *notes])) from broken[0][1]
