"""Curves of job time: goodput over the interval, stragglers, and a simulated run."""

from dataclasses import dataclass

from engine.core.units import DAY, Ratio, Seconds, Share
from engine.form.job_inputs import Inputs
from engine.formulas.goodput import first_order_goodput, goodput
from engine.formulas.stragglers import (
    all_done_share,
    slowest_of,
    slowest_share,
    slowest_with_one_slow,
)
from engine.simulate.job.failure_process import CheckpointPolicy, progress_line
from engine.simulate.numerics.rng import jittered_step_times

SHORTEST, LONGEST = 30.0, DAY
INTERVALS = tuple(SHORTEST * (LONGEST / SHORTEST) ** (i / 64) for i in range(65))
SIZES = tuple(2**i for i in range(18))
_FAILURES, _LANES = 16, 8
_STEPS = 121


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Columns of the page's charts.

    Attributes:
        daly, first: goodput by `INTERVALS`, complete and to first order.
        alike, slowed: added to a step by `SIZES`, without and with the slow GPU.
        ratios: times over an average step, by which `one` GPU and `all` of them are done.
        waiting: one step of some GPUs, over an average step; the first is the slow one.
        life: (time, work) of one simulated job.
    """

    daly: tuple[Share, ...]
    first: tuple[Share, ...]
    alike: tuple[Share, ...]
    slowed: tuple[Share, ...]
    ratios: tuple[Ratio, ...]
    one_gpu: tuple[Share, ...]
    all: tuple[Share, ...]
    waiting: tuple[Ratio, ...]
    life: tuple[tuple[Seconds, Seconds], ...]


def curves(inputs: Inputs, habits: CheckpointPolicy, slow_down: Ratio) -> Curves:
    """Return the columns for the inputs."""
    rest = habits.checkpoint, habits.restart, habits.mtbf
    deviation, slower, gpus = inputs.deviation, inputs.slower, inputs.num_gpus
    alike = tuple(slowest_of(n, deviation) - 1 for n in SIZES)
    ratios = _ratios(deviation, slow_down)
    return Curves(
        daly=tuple(goodput(t, *rest) for t in INTERVALS),
        first=tuple(first_order_goodput(t, *rest) for t in INTERVALS),
        alike=alike,
        # The one slow GPU counts only where it is slow: the curves would lie on each other.
        slowed=tuple(slowest_with_one_slow(n, deviation, slower) - 1 for n in SIZES)
        if slower
        else alike,
        ratios=ratios,
        one_gpu=tuple(slowest_share(x, 1, deviation) for x in ratios),
        all=tuple(all_done_share(x, gpus, deviation, slower) for x in ratios),
        waiting=jittered_step_times(_LANES, deviation, slower, inputs.seed),
        life=progress_line(habits, _FAILURES, inputs.seed),
    )


def _ratios(deviation: Share, slow_down: Ratio) -> tuple[Ratio, ...]:
    wide = max(deviation, 0.002)
    low, high = 1 - 4 * wide, max(1 + 7 * wide, slow_down + 4 * wide)
    return tuple(low + (high - low) * i / (_STEPS - 1) for i in range(_STEPS))
