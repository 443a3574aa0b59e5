"""A part of a result that waits until it is asked for."""

import pytest

from engine.core.lazy import Lazy


def test_it_is_computed_once_and_only_when_it_is_asked_for() -> None:
    asked: list[int] = []

    def compute() -> int:
        asked.append(1)
        return 7

    part = Lazy(compute)
    assert asked == []
    assert (part(), part(), asked) == (7, 7, [1])


def test_none_counts_as_found() -> None:
    asked: list[int] = []
    part = Lazy(lambda: asked.append(1))
    assert part() is None
    part()
    assert asked == [1]


def test_what_fails_fails_each_time() -> None:
    def compute() -> int:
        raise ValueError("no such GPU")

    part = Lazy(compute)
    for _ in range(2):
        with pytest.raises(ValueError, match="no such GPU"):
            part()
