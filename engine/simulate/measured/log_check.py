"""Check of a training log against its job: measured and predicted step times.

What a log does not print follows from the job: tokens of a step are sequences times their length,
and the speed of a GPU is those tokens over the step and the GPUs.
"""

from dataclasses import dataclass

from engine.core.units import Bytes, Count, Seconds, Share, TokenRate
from engine.formulas.step_operations import model_operations
from engine.run.logs.training import LoggedStep, TrainingLog, complete_steps
from engine.run.run import Run
from engine.simulate.measured.steadiness import Steadiness, quantile, steadiness
from engine.simulate.step.step_range import step_range
from engine.simulate.step.what_if import run_step_time

# A printed MFU farther than this from ours counts or divides otherwise.
MFU_TOLERANCE: Share = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCheck:
    """Measured and predicted figures of a logged job.

    Attributes:
        numbers: of the steps.
        times: of one step each.
        steady: how steady they are.
        token_rate: median, of one GPU.
        mfu: of the dense peak, by the model's operations.
        printed_mfu: median of what the log prints; 0 if it prints none.
        allocated, reserved: the largest peaks; 0 if none is printed.
        batch: sequences of a step, as the log says or as the job does.
        predicted, least, most: the step of the model, and its range.
    """

    numbers: tuple[Count, ...]
    times: tuple[Seconds, ...]
    steady: Steadiness
    token_rate: TokenRate
    mfu: Share
    printed_mfu: Share
    allocated: Bytes
    reserved: Bytes
    batch: Count
    predicted: Seconds
    least: Seconds
    most: Seconds


def check_log(log: TrainingLog, run: Run) -> LogCheck | None:
    """Return the check of a log against a run; None if no step has a time."""
    steps = [step for step in complete_steps(log) if logged_step_time(step, run) > 0]
    if not steps:
        return None
    times = tuple(logged_step_time(step, run) for step in steps)
    steady = steadiness(times)
    used = steps[steady.skipped :]
    batch = used[-1].batch or run.training.global_batch_size
    gpus = run.plan.world_size
    predicted = run_step_time(run).total
    least, most, _ = step_range(run, predicted)
    operations = model_operations(run.model, run.training) * batch
    peaks = run.cluster.gpu.peak
    peak = peaks.get(run.training.precision, peaks["fp16"])
    printed = [step.mfu for step in used if step.mfu]
    return LogCheck(
        numbers=tuple(step.number for step in steps),
        times=times,
        steady=steady,
        token_rate=batch * run.training.sequence_length / gpus / steady.median,
        mfu=operations / run.training.global_batch_size / gpus / steady.median / peak,
        printed_mfu=quantile(printed, 0.5) if printed else 0.0,
        allocated=max(step.allocated for step in steps),
        reserved=max(step.reserved for step in steps),
        batch=batch,
        predicted=predicted,
        least=least,
        most=most,
    )


def logged_step_time(step: LoggedStep, run: Run) -> Seconds:
    """Return the logged step time, from time, token rate or sample rate; 0 if none is printed."""
    batch = step.batch or run.training.global_batch_size
    if step.time:
        return step.time
    if step.token_rate:
        tokens = batch * run.training.sequence_length
        return tokens / run.plan.world_size / step.token_rate
    return batch / step.sample_rate if step.sample_rate else 0.0
