"""The nearest possible plan to the inputs, and its published report."""

from dataclasses import replace
from functools import cache, lru_cache

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs, run_inputs
from engine.catalog.reported_runs import REPORTED, ReportedRun
from engine.core.text import Text
from engine.core.units import Count
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import change_sentences, nearest_inputs, nearest_run
from engine.run.run import Run
from engine.run.stage_cut import moved_layers
from engine.simulate.step.modeled_plan import ModeledPlan, model_plan

_AXES = ("tensor_parallel", "pipeline_parallel", "context_parallel")
_FOLLOWING = frozenset({"world_size", "global_batch_size"})  # the page has no such inputs


@lru_cache(maxsize=128)
def possible_plan(inputs: Inputs) -> tuple[ModeledPlan, tuple[Text, ...]]:
    """Return the modeled nearest possible plan, and its differences from the inputs."""
    run_settings = run_inputs(inputs)
    possible = nearest_inputs(run_settings)
    # Fewer ranks of an axis make a smaller job; replicas and micro-batches stay as they are.
    lowered = {name: getattr(possible, name) for name in _AXES}
    smaller = run_inputs(replace(inputs, **lowered))
    run, _ = nearest_run(smaller)
    changes = change_sentences(run_settings, nearest_inputs(smaller), _FOLLOWING)
    run = replace(run, plan=replace(run.plan, stage_layers=_stage_layers(inputs, run)))
    return model_plan(run, inputs.utilization), changes


@cache
def _reported_runs() -> tuple[tuple[Run, ReportedRun], ...]:
    return tuple(
        (nearest_run(RunInputs(**report.settings))[0], report)  # type: ignore[arg-type]
        for report in REPORTED.values()
    )


def reported_run(run: Run) -> ReportedRun | None:
    """Return the published report of exactly this run, if any."""
    return next(
        (
            report
            for known, report in _reported_runs()
            if _without_idle_switch(known) == _without_idle_switch(run)
        ),
        None,
    )


def _without_idle_switch(run: Run) -> Run:
    """Return the run without switches that have no effect on a single rank."""
    if run.plan.tensor_parallel > 1:
        return run
    return replace(run, training=replace(run.training, overlap_tensor_parallel=False))


def _stage_layers(inputs: Inputs, run: Run) -> tuple[Count, ...]:
    """Return the layers of each stage; empty if none was moved. Interleaved pieces stay."""
    plan = run.plan
    moved = inputs.off_first or inputs.off_last
    if plan.pipeline_parallel == 1 or plan.virtual_pipeline > 1 or not moved:
        return ()
    layers = run.model.num_layers
    return moved_layers(layers, plan.pipeline_parallel, inputs.off_first, inputs.off_last)
