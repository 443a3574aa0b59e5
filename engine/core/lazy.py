"""Lazy parts of a result: computed when a view first needs them, then cached.

Views are made only when they are looked at, and compute nothing themselves; so a curve of hundreds
of points is a part of the result that waits: `curve: Later[Curve]`, which `solve` gives as
`Later(partial(_curve, inputs))` and a view reads as `result.curve()`.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

ResultT = TypeVar("ResultT")


class Lazy(Generic[ResultT]):
    """A value that is computed on the first call and cached."""

    __slots__ = ("_compute", "_found")

    def __init__(self, compute: Callable[[], ResultT]) -> None:
        self._compute = compute
        self._found: list[ResultT] = []

    def __call__(self) -> ResultT:
        """Return the value; an exception of the computation is raised on every call."""
        if not self._found:
            self._found.append(self._compute())
        return self._found[0]

    @property
    def ready(self) -> bool:
        """Whether it is computed already."""
        return bool(self._found)
