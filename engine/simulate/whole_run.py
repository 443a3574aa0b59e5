"""A whole run: its steps, and what checkpoints, failures and restarts add to them."""

import math
from dataclasses import dataclass

from engine.basis.units import Ratio, Seconds, Share
from engine.formulas import goodput as saving
from engine.formulas.run import run_time
from engine.simulate.cluster_life import Habits

# A run that spends less of its time on work that lasts never ends, in any sense that matters.
_HOPELESS: Share = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRun:
    """A run; `steps`, `checkpoints`, `restarts` and `redone` together are `wall`.

    Attributes:
        steps: time of its steps, waiting for the slowest included.
        goodput: share of the time that is work which lasts.
        wall: the time of the run; infinite where it never ends.
        spread: its standard deviation by the luck of failures alone.
        checkpoints: time in which states are written.
        restarts: time from failures until steps go on.
        redone: time of steps that a failure destroyed.
        failures: how many are expected.
    """

    steps: Seconds
    goodput: Share
    wall: Seconds
    spread: Seconds
    checkpoints: Seconds
    restarts: Seconds
    redone: Seconds
    failures: Ratio


def whole_run(steps: Seconds, habits: Habits) -> WholeRun:
    """Return the run of so many seconds of steps. Source: Daly 2006, complete model."""
    each = habits.interval, habits.checkpoint, habits.restart, habits.mtbf
    share = saving.goodput(*each)
    wall = run_time(steps, 1.0, share) if share > _HOPELESS else math.inf
    checkpoints = steps * habits.checkpoint / habits.interval
    restarts = wall * saving.restart_share(habits.restart, habits.mtbf)
    lost = max(0.0, wall - steps - checkpoints - restarts) if math.isfinite(wall) else math.inf
    return WholeRun(
        steps=steps,
        goodput=share,
        wall=wall,
        spread=saving.spread(steps, *each),
        checkpoints=checkpoints,
        restarts=restarts,
        redone=lost,  # rounding can leave a trace below nothing where nothing ever fails
        failures=saving.failures(wall, habits.mtbf),
    )
