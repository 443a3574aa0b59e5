"""Wall time of a whole run with checkpoints, failures and restarts."""

import math
from dataclasses import dataclass, replace

from engine.core.units import Ratio, Seconds, Share
from engine.formulas import goodput as saving
from engine.formulas.run import run_time
from engine.simulate.job.failure_process import CheckpointPolicy

# Of a run that is over before its first checkpoint and fails less often than this, the mean would
# be that of a few runs that wait for a restart many times as long; the run itself has no failure.
_RARE: Share = 0.01
# A run that spends less of its time on work that lasts never ends, in any sense that matters.
_LEAST_GOODPUT: Share = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeRun:
    """Wall time of a run: `steps`, `checkpoints`, `restarts` and `redone` add up to `wall`.

    Attributes:
        steps: time of its steps, waiting for the slowest included.
        goodput: share of the time spent on work that lasts.
        wall: the time of the run; infinite where it never ends.
        spread: its standard deviation by the luck of failures alone.
        checkpoints: time in which states are written.
        restarts: time from failures until steps go on.
        redone: time of steps that a failure destroyed.
        failures: how many are expected.
        chance: that anything fails.
        short: over before the first checkpoint is due, with hardly a failure.
    """

    steps: Seconds
    goodput: Share
    wall: Seconds
    spread: Seconds
    checkpoints: Seconds
    restarts: Seconds
    redone: Seconds
    failures: Ratio
    chance: Share
    short: bool = False


def whole_run(steps: Seconds, policy: CheckpointPolicy | None) -> WholeRun:
    """Return the wall time of a run from its step seconds. Source: Daly 2006, complete model.

    A run that ends before its first checkpoint is one interval without a checkpoint. Without a
    policy nothing is saved and nothing fails: the steps alone.
    """
    if policy is None:
        return _run_without_failures(steps, 0.0, 0.0)
    if steps <= policy.interval:
        if (chance := _failure_chance(steps, policy.mtbf)) < _RARE:
            return _run_without_failures(steps, chance, saving.failures(steps, policy.mtbf))
        policy = replace(policy, interval=steps, checkpoint=0.0)
    each = policy.interval, policy.checkpoint, policy.restart, policy.mtbf
    share = saving.goodput(*each)
    wall = run_time(steps, 1.0, share) if share > _LEAST_GOODPUT else math.inf
    checkpoints = steps * policy.checkpoint / policy.interval
    restarts = wall * saving.restart_share(policy.restart, policy.mtbf)
    lost = max(0.0, wall - steps - checkpoints - restarts) if math.isfinite(wall) else math.inf
    return WholeRun(
        steps=steps,
        goodput=share,
        wall=wall,
        spread=saving.spread(steps, *each),
        checkpoints=checkpoints,
        restarts=restarts,
        redone=lost,  # rounding can leave a trace below nothing where nothing ever fails
        failures=saving.failures(wall, policy.mtbf),
        chance=_failure_chance(wall, policy.mtbf),
    )


def _failure_chance(time: Seconds, mtbf: Seconds) -> Share:
    return -math.expm1(-time / mtbf)


def _run_without_failures(steps: Seconds, chance: Share, failures: Ratio) -> WholeRun:
    return WholeRun(
        steps=steps,
        goodput=1.0,
        wall=steps,
        spread=0.0,
        checkpoints=0.0,
        restarts=0.0,
        redone=0.0,
        failures=failures,
        chance=chance,
        short=True,
    )
