"""A weight that gets the same small update again and again, in a format and beside it."""

from dataclasses import dataclass

from engine.core.units import Count
from engine.simulate.numerics.number_format import FORMATS, rounded
from engine.simulate.numerics.rng import chances


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """The weight after every shown step.

    Attributes:
        steps: that are shown.
        exact: in exact arithmetic.
        nearest: kept in the format, rounded to the nearest.
        stochastic: kept in the format, rounded by chance.
        master: what the format shows of a copy in fp32.
    """

    steps: tuple[Count, ...]
    exact: tuple[float, ...]
    nearest: tuple[float, ...]
    stochastic: tuple[float, ...]
    master: tuple[float, ...]


def course(name: str, weight: float, update: float, steps: Count, seed: Count = 3) -> Course:
    """Return the course of a weight over the steps; at most 100 of them are shown."""
    form, single = FORMATS[name], FORMATS["fp32"]
    start = rounded(form, weight)
    nearest = stochastic = start
    copy = rounded(single, weight)
    chance = chances(seed)
    every = max(1, steps // 100)
    rows = [(0, weight, nearest, stochastic, rounded(form, copy))]
    for step in range(1, steps + 1):
        nearest = rounded(form, nearest + update)
        stochastic = rounded(form, stochastic + update, next(chance))
        copy = rounded(single, copy + update)
        if step % every == 0 or step == steps:
            exact = weight + step * update
            rows.append((step, exact, nearest, stochastic, rounded(form, copy)))
    columns = list(zip(*rows, strict=True))
    return Course(
        steps=columns[0],
        exact=columns[1],
        nearest=columns[2],
        stochastic=columns[3],
        master=columns[4],
    )
