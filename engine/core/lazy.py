"""A part of a result that takes long: solved when a view first asks for it, and then kept.

Views are made only when they are looked at, and compute nothing themselves; so a curve of hundreds
of points is a part of the result that waits: `curve: Later[Curve]`, which `solve` gives as
`Later(partial(_curve, inputs))` and a view reads as `result.curve()`.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

Found = TypeVar("Found")


class Later(Generic[Found]):
    """What a function finds, computed once, when it is first asked for."""

    __slots__ = ("_compute", "_found")

    def __init__(self, compute: Callable[[], Found]) -> None:
        self._compute = compute
        self._found: list[Found] = []

    def __call__(self) -> Found:
        """Return what the function finds; what it raises is raised, each time."""
        if not self._found:
            self._found.append(self._compute())
        return self._found[0]
