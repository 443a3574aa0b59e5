"""Forecast of a whole training run: speed, failures and checkpoints.

The speed is that of a run by the step model (`modeled_terms`) or one that the reader types; the
rest is the same function, `job_run`.
"""

import math
from dataclasses import dataclass, replace

from engine.core.units import Count, Ratio, Seconds, Share, TokenRate, Tokens
from engine.formulas import goodput as saving
from engine.formulas.job import time_of_steps, token_rate
from engine.formulas.run import run_time
from engine.formulas.step_operations import model_operations
from engine.formulas.stragglers import slowest_with_one_slow
from engine.run.run import Run
from engine.simulate.job.failure_process import CheckpointPolicy
from engine.simulate.step.step_range import PredictionSpread, step_range
from engine.simulate.step.step_time import StepTime, step_time

# Wall time of a whole run with checkpoints, failures and restarts.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTerms:
    """The terms of the time of a whole run.

    Attributes:
        work: time of its steps, all usual waiting included.
        slow_down: of a step, by one GPU that is slower than the others.
        policy: checkpoints and failures; None leaves both out.
    """

    work: Seconds
    slow_down: Ratio = 1.0
    policy: CheckpointPolicy | None = None


def job_run(terms: JobTerms) -> WholeRun:
    """Return the run of a job from its speed and its losses. Source: Daly 2006 for the losses."""
    return whole_run(terms.work * terms.slow_down, terms.policy)


def modeled_terms(
    run: Run,
    tokens: Tokens,
    step: Seconds,
    *,
    slow_down: Ratio = 1.0,
    policy: CheckpointPolicy | None = None,
) -> JobTerms:
    """Return the terms of a job whose step the step model gives."""
    training = run.training
    work = time_of_steps(tokens, training.global_batch_size, training.sequence_length, step)
    return JobTerms(work=work, slow_down=slow_down, policy=policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTimeParts:
    """Parts of the wall time of a run; they add up to it.

    Attributes:
        ideal: the model's operations at the peak of all GPUs.
        kernels: by which the computation takes longer than that, recomputation included.
        exposed: communication that nothing hides.
        bubble: waiting for the first and the last micro-batch of a pipeline.
        host: optimizer, host, and the usual waiting for the slowest GPU.
        slow_gpu: waiting for one GPU that is slower than the others.
        checkpoints, redone, restarts: as in `WholeRun`.
    """

    ideal: Seconds
    kernels: Seconds
    exposed: Seconds
    bubble: Seconds
    host: Seconds
    slow_gpu: Seconds
    checkpoints: Seconds
    redone: Seconds
    restarts: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """Forecast of a training run.

    Attributes:
        step: as predicted, without the slow GPU.
        spread: how far off such predictions are.
        slow_down: of a step, by the slow GPU.
        rate: tokens per second per GPU while steps run, without the slow GPU.
        steps: how many.
        run: all of it.
        early, late: the run if the step is at the ends of its range.
        parts: of the run.
    """

    step: StepTime
    spread: PredictionSpread
    slow_down: Ratio
    rate: TokenRate
    steps: float
    run: WholeRun
    early: WholeRun
    late: WholeRun
    parts: RunTimeParts


def forecast(
    run: Run, tokens: Tokens, policy: CheckpointPolicy | None, slower: Share = 0.0
) -> Forecast:
    """Return the forecast of a run over `tokens`, with one GPU slower by a share.

    The slow GPU stretches what GPUs compute; messages and host are as they were.
    """
    training, gpus = run.training, run.plan.world_size
    step = step_time(run.model, run.cluster, run.plan, training)
    low, high, spread = step_range(run, step.total)
    computed = step.compute + step.optimizer
    waited = computed * (slowest_with_one_slow(gpus, 0.0, slower) - 1)
    count = tokens / (training.global_batch_size * training.sequence_length)
    slow_down = 1 + waited / step.total
    terms = modeled_terms(run, tokens, step.total, slow_down=slow_down, policy=policy)
    whole = job_run(terms)
    early, late = (
        job_run(modeled_terms(run, tokens, end, slow_down=slow_down, policy=policy))
        for end in (low, high)
    )
    return Forecast(
        step=step,
        spread=spread,
        slow_down=terms.slow_down,
        rate=token_rate(training.global_batch_size, training.sequence_length, step.total) / gpus,
        steps=count,
        run=whole,
        early=early,
        late=late,
        parts=_run_time_parts(step, _ideal_step_time(run, gpus), waited, whole, count),
    )


def _ideal_step_time(run: Run, gpus: Count) -> Seconds:
    """Return the time of a step's model FLOPs at the peak of all GPUs."""
    peaks = run.cluster.gpu.peak
    peak = peaks.get(run.training.precision, peaks["fp16"])
    return model_operations(run.model, run.training) / (gpus * peak)


def _run_time_parts(
    step: StepTime, ideal: Seconds, waited: Seconds, whole: WholeRun, count: float
) -> RunTimeParts:
    return RunTimeParts(
        ideal=ideal * count,
        kernels=(step.compute - ideal) * count,
        exposed=step.exposed * count,
        bubble=step.bubble * count,
        host=(step.optimizer + step.other) * count,
        slow_gpu=waited * count,
        checkpoints=whole.checkpoints,
        redone=whole.redone,
        restarts=whole.restarts,
    )
