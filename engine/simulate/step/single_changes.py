"""Step times after single changes of a run's settings, from the cost model.

A change leaves GPUs, sequences of a step and the model as they are, so that steps compare, and
counts only where its run divides as well as before and fits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from engine.catalog.constants import KEPT_FREE
from engine.core.units import Count, Seconds, Share
from engine.run.limits import indivisible_sizes
from engine.run.parallelism import Plan, Training
from engine.run.problems import problems
from engine.run.run import Run
from engine.simulate.step.what_if import run_fit, run_step_time

_AXES = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")
_RECOMPUTED = ("none", "selective", "full")
_SWITCHES = (
    "compiled",
    "flash_attention",
    "overlap_gradient_reduce",
    "overlap_tensor_parallel",
    "overlap_expert_parallel",
)
# A gain below half a percent is none.
_WORTH = 0.995
# What a framework can shard; of others every stage is tried.
_STAGES = {"fsdp": (2, 3), "megatron": (0, 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleChange:
    """One changed setting.

    Attributes:
        setting: the key of a run file.
        before, after: its values.
        run: with the change.
        step: of that run.
    """

    setting: str
    before: str
    after: str
    run: Run
    step: Seconds


def best_changes(
    run: Run, count: Count = 3, kept_free: Share = KEPT_FREE
) -> tuple[SingleChange, ...]:
    """Return the changes with the shortest steps that fit; a tight one only of a tight run.

    Of a run that fits only those that make it faster, of one that does not all that make it fit.
    """
    known = set(_problems(run))
    fit = run_fit(run, kept_free)
    limit = run_step_time(run).total if fit.runs else float("inf")
    allowed = {"fits", fit.verdict} - {"does not fit"}
    changes = [
        SingleChange(
            setting=name, before=before, after=after, run=changed, step=run_step_time(changed).total
        )
        for name, before, after, changed in _changes(run)
        if not _is_invalid(changed, known) and run_fit(changed, kept_free).verdict in allowed
    ]
    faster = [change for change in changes if change.step < limit * _WORTH]
    return tuple(sorted(faster, key=lambda change: change.step)[:count])


def gpu_multiple_that_fits(run: Run) -> Count:
    """Return the smallest power-of-two multiple of GPUs on which the run fits; 0 if none does.

    They become data-parallel ranks; where the batch does not divide, it grows with them.
    """
    for factor in (2, 4, 8, 16, 32, 64):
        plan = replace(run.plan, world_size=run.plan.world_size * factor)
        for batch in (run.training.global_batch_size, run.training.global_batch_size * factor):
            training = replace(run.training, global_batch_size=batch)
            if indivisible_sizes(run.model, plan, training):
                continue
            if run_fit(replace(run, plan=plan, training=training)).verdict == "fits":
                return factor
    return 0


def _problems(run: Run) -> tuple[str, ...]:
    return problems(run.model, run.cluster, run.plan, run.training)


def _is_invalid(run: Run, known: set[str]) -> bool:
    """Return whether the run is impossible or has new divisibility problems."""
    return bool(indivisible_sizes(run.model, run.plan, run.training)) or not known.issuperset(
        _problems(run)
    )


def _changes(run: Run) -> Iterator[tuple[str, str, str, Run]]:
    """Yield setting, value before, value after and the run with it."""
    plan, training = run.plan, run.training
    for name, changed_plan in _plan_changes(run):
        yield (
            name,
            _format_value(getattr(plan, name)),
            _format_value(getattr(changed_plan, name)),
            replace(run, plan=changed_plan),
        )
    for name, changed_training in _training_changes(run):
        before, after = (
            _format_value(getattr(training, name)),
            _format_value(getattr(changed_training, name)),
        )
        yield name, before, after, replace(run, training=changed_training)
    if plan.pipeline_parallel > 1 and plan.virtual_pipeline == 1 and not plan.stage_layers:
        pieces = replace(plan, virtual_pipeline=2)
        interleaved = replace(training, schedule="interleaved")
        yield "virtual_pipeline", "1", "2", replace(run, plan=pieces, training=interleaved)


def _format_value(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _plan_changes(run: Run) -> Iterator[tuple[str, Plan]]:
    plan = run.plan
    yield from _axis_changes(run)
    if plan.virtual_pipeline > 1 and not plan.stage_layers:
        for pieces in {plan.virtual_pipeline * 2, max(2, plan.virtual_pipeline // 2)}:
            yield "virtual_pipeline", replace(plan, virtual_pipeline=pieces)
    for stage in _STAGES.get(run.training.framework, (0, 1, 2, 3)):
        if stage != plan.zero_stage:
            yield "zero_stage", replace(plan, zero_stage=stage)


def _axis_changes(run: Run) -> Iterator[tuple[str, Plan]]:
    """Yield plans with each axis doubled and halved."""
    plan = run.plan
    for name in _AXES[: 4 if run.model.num_experts else 3]:
        size = getattr(plan, name)
        changes: dict[str, Any] = {}
        if name == "pipeline_parallel" and plan.stage_layers:
            # Another number of stages holds other pieces: a cut by hand does not apply.
            changes = {"stage_layers": (), "virtual_pipeline": 1}
        for changed_size in {size * 2, size // 2} - {0, size}:
            yield name, replace(plan, **{name: changed_size}, **changes)


def _training_changes(run: Run) -> Iterator[tuple[str, Training]]:
    training = run.training
    for size in {training.micro_batch_size * 2, training.micro_batch_size // 2} - {0}:
        yield "micro_batch_size", replace(training, micro_batch_size=size)
    for kind in _RECOMPUTED:
        changes: dict[str, Any] = {"recompute": kind}
        if kind != training.recompute:
            yield "recompute", replace(training, **changes)
    for name in _SWITCHES[: 4 if run.plan.tensor_parallel > 1 else 3]:
        on: dict[str, Any] = {name: True}
        if not getattr(training, name):
            yield name, replace(training, **on)
    if training.precision == "bf16" and "fp8" in run.cluster.gpu.peak:
        yield "precision", replace(training, precision="fp8")
