"""Accumulation of small updates to a weight in a narrow format, and in fp32."""

from dataclasses import dataclass

from engine.core.units import Count
from engine.simulate.numerics.number_format import FORMATS, round_to_format
from engine.simulate.numerics.rng import uniforms


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightHistory:
    """Weight after every recorded step, by kind of rounding.

    Attributes:
        steps: recorded steps.
        exact: weight in exact arithmetic.
        nearest: weight in the format, rounded to the nearest.
        stochastic: weight in the format, stochastically rounded.
        master: fp32 master copy, rounded to the format.
    """

    steps: tuple[Count, ...]
    exact: tuple[float, ...]
    nearest: tuple[float, ...]
    stochastic: tuple[float, ...]
    master: tuple[float, ...]


def accumulate_updates(
    name: str, weight: float, update: float, steps: Count, seed: Count = 3
) -> WeightHistory:
    """Return the history of a weight over the steps; at most 100 of them are recorded."""
    number_format, fp32 = FORMATS[name], FORMATS["fp32"]
    start = round_to_format(number_format, weight)
    nearest = stochastic = start
    master = round_to_format(fp32, weight)
    chance = uniforms(seed)
    interval = max(1, steps // 100)
    rows = [(0, weight, nearest, stochastic, round_to_format(number_format, master))]
    for step in range(1, steps + 1):
        nearest = round_to_format(number_format, nearest + update)
        stochastic = round_to_format(number_format, stochastic + update, next(chance))
        master = round_to_format(fp32, master + update)
        if step % interval == 0 or step == steps:
            exact = weight + step * update
            rows.append((step, exact, nearest, stochastic, round_to_format(number_format, master)))
    columns = list(zip(*rows, strict=True))
    return WeightHistory(
        steps=columns[0],
        exact=columns[1],
        nearest=columns[2],
        stochastic=columns[3],
        master=columns[4],
    )
