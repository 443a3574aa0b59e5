"""Check of a training log against its job: measured and predicted step times.

What a log says of its job comes before what the form says. The rest follows from the form: tokens
of a step are sequences times their length, and the speed of a GPU is those tokens over the step and
the GPUs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

from engine.core.units import Bytes, Count, FlopRate, Ratio, Seconds, Share, TokenRate
from engine.formulas.step_operations import model_operations
from engine.run.logs.logged_step import LoggedStep
from engine.run.logs.training import TrainingLog, complete_steps
from engine.run.run import Run
from engine.simulate.measured.steadiness import Steadiness, quantile, steadiness
from engine.simulate.measured.traced_gpu import is_of_another_gpu
from engine.simulate.step.step_range import step_range
from engine.simulate.step.what_if import run_step_time

# A printed MFU farther than this from ours counts or divides otherwise.
MFU_TOLERANCE: Share = 0.05
# Counts of operations differ by conventions (half of attention, recomputation), but by no more: a
# log that prints more or less than ours by this factor is of another model.
_ANOTHER_MODEL: Ratio = 2.0
# Tokens per second that a log prints beside a time are those of its job, but for rounding.
_SAME_RATE: Share = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCheck:
    """Measured and predicted figures of a logged job.

    Attributes:
        numbers: of the steps.
        times: of one step each.
        steady: how steady they are.
        token_rate: median, of one GPU.
        printed_token_rate: what the log prints beside the time; 0 if it does not.
        mfu: of the dense peak, by the model's operations.
        printed_mfu: median of what the log prints; 0 if it prints none.
        printed_flops: median of the printed FLOP/s of a GPU; 0 if none are.
        printed_share: those of the dense peak of this GPU; 0 likewise.
        allocated, reserved: the largest peaks; 0 if none is printed.
        batch, sequence_length, gpus: as the log says, or as the job does.
        gpu: name of the GPU, as the log says; empty where it does not.
        predicted, least, most: the step of the model, and its range.
    """

    numbers: tuple[Count, ...]
    times: tuple[Seconds, ...]
    steady: Steadiness
    token_rate: TokenRate
    printed_token_rate: TokenRate
    mfu: Share
    printed_mfu: Share
    printed_flops: FlopRate
    printed_share: Share
    allocated: Bytes
    reserved: Bytes
    batch: Count
    sequence_length: Count
    gpus: Count
    gpu: str
    predicted: Seconds
    least: Seconds
    most: Seconds


def check_log(log: TrainingLog, run: Run) -> LogCheck | None:
    """Return the check of a log against a run; None if no step has a time."""
    steps = [step for step in complete_steps(log) if logged_step_time(step, log, run) > 0]
    if not steps:
        return None
    times = tuple(logged_step_time(step, log, run) for step in steps)
    steady = steadiness(times)
    used = steps[steady.skipped :]
    batch = used[-1].batch or log.job.batch or run.training.global_batch_size
    length = log.job.sequence_length or run.training.sequence_length
    gpus = log.job.gpus or run.plan.world_size
    predicted = run_step_time(run).total
    least, most, _ = step_range(run, predicted)
    training = replace(run.training, sequence_length=length)
    operations = model_operations(run.model, training) / training.global_batch_size * batch
    peaks = run.cluster.gpu.peak
    peak = peaks.get(run.training.precision, peaks["fp16"])
    flops = _median_of([step.flops for step in used])
    return LogCheck(
        numbers=tuple(step.number for step in steps),
        times=times,
        steady=steady,
        token_rate=batch * length / gpus / steady.median,
        printed_token_rate=_median_of([step.token_rate for step in used if step.time]),
        mfu=operations / gpus / steady.median / peak,
        printed_mfu=_median_of([step.mfu for step in used]),
        printed_flops=flops,
        printed_share=flops / peak,
        allocated=max(step.allocated for step in steps),
        reserved=max(step.reserved for step in steps),
        batch=batch,
        sequence_length=length,
        gpus=gpus,
        gpu=log.job.gpu,
        predicted=predicted,
        least=least,
        most=most,
    )


def is_another_job(check: LogCheck, run: Run) -> bool:
    """Return whether a log cannot be of the job that the form describes."""
    logged = check.batch, check.sequence_length, check.gpus
    asked = (
        run.training.global_batch_size,
        run.training.sequence_length,
        run.plan.world_size,
    )
    if logged != asked or check.mfu > 1 or is_on_another_gpu(check, run):
        return True
    return is_another_model(check) or is_another_rate(check)


def is_on_another_gpu(check: LogCheck, run: Run) -> bool:
    """Return whether the log names a GPU that is not that of the job."""
    return bool(check.gpu) and is_of_another_gpu((check.gpu,), run.cluster.gpu.name)


def is_another_rate(check: LogCheck) -> bool:
    """Return whether the tokens per second that the log prints cannot be of this job."""
    if not check.printed_token_rate:
        return False
    return abs(check.token_rate / check.printed_token_rate - 1) > _SAME_RATE


def is_another_model(check: LogCheck) -> bool:
    """Return whether the printed FLOP/s are far from those that this job would take."""
    if not check.printed_share:
        return False
    ratio = check.mfu / check.printed_share
    return not 1 / _ANOTHER_MODEL < ratio < _ANOTHER_MODEL


def credible_mfu(check: LogCheck) -> Share:
    """Return the MFU by the job, or by the printed FLOP/s where the job cannot be the log's.

    Infinite where neither is one.
    """
    if check.mfu <= 1 and not is_another_model(check):
        return check.mfu
    return check.printed_share or check.printed_mfu or inf


def _median_of(values: Sequence[float]) -> float:
    """Return the median of the values that are printed; 0 if none is."""
    printed = [value for value in values if value]
    return quantile(printed, 0.5) if printed else 0.0


def logged_step_time(step: LoggedStep, log: TrainingLog, run: Run) -> Seconds:
    """Return the logged step time, from time, token rate or sample rate; 0 if none is printed."""
    batch = step.batch or log.job.batch or run.training.global_batch_size
    if step.time:
        return step.time
    if step.token_rate:
        tokens = batch * (log.job.sequence_length or run.training.sequence_length)
        return tokens / (log.job.gpus or run.plan.world_size) / step.token_rate
    return batch / step.sample_rate if step.sample_rate else 0.0
