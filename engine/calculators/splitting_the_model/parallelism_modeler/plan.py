"""The possible plan nearest to the modeler's inputs, and what was published of just that."""

from dataclasses import replace
from functools import cache, lru_cache

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs, run_inputs
from engine.catalog.reported_runs import REPORTED, Reported
from engine.core.text import Text
from engine.core.units import Count
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import differences, repaired, run_of
from engine.run.run import Run
from engine.run.stage_cut import moved_layers
from engine.simulate.step.modeled_plan import Modeled, model_of

_AXES = ("tensor_parallel", "pipeline_parallel", "context_parallel")
_FOLLOWING = frozenset({"world_size", "global_batch_size"})  # the page has no such inputs


@lru_cache(maxsize=128)
def plan_of(inputs: Inputs) -> tuple[Modeled, tuple[Text, ...]]:
    """Return the possible plan nearest to the inputs, modelled, and what differs from them."""
    given = run_inputs(inputs)
    possible = repaired(given)
    # Fewer ranks of an axis make a smaller job; replicas and micro-batches stay as they are.
    lowered = {name: getattr(possible, name) for name in _AXES}
    smaller = run_inputs(replace(inputs, **lowered))
    run, _ = run_of(smaller)
    changes = differences(given, repaired(smaller), _FOLLOWING)
    run = replace(run, plan=replace(run.plan, stage_layers=_stage_layers(inputs, run)))
    return model_of(run, inputs.utilization), changes


@cache
def _reported_runs() -> tuple[tuple[Run, Reported], ...]:
    return tuple((run_of(RunInputs(**one.settings))[0], one) for one in REPORTED.values())  # type: ignore[arg-type]


def report_of(run: Run) -> Reported | None:
    """Return what was published of just this run, if anything."""
    return next((one for known, one in _reported_runs() if _plain(known) == _plain(run)), None)


def _plain(run: Run) -> Run:
    """Return the run without a switch that says nothing: one rank has no collectives to overlap."""
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
