"""Sandbox: every input of a run, two plans side by side, and what makes the difference."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.calculators.reference.sandbox import pictures
from engine.calculators.reference.sandbox.inputs import Inputs as Inputs
from engine.calculators.reference.sandbox.inputs import inputs_of
from engine.calculators.reference.sandbox.pictures import Side
from engine.calculators.reference.sandbox.way import Station, way
from engine.core.outputs import Teller, Told, Views
from engine.core.units import Bytes, Ratio, Seconds, Share, TokenRate
from engine.estimate import estimate
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import run_of
from engine.form.run.prediction_text import ranged
from engine.run.doubts import doubts
from engine.simulate.planner.evaluate import one_candidate
from engine.simulate.planner.why import differences
from engine.simulate.step.prediction_evidence import evidence
from engine.simulate.step.step_range import step_range

TITLE = "Two plans side by side"
QUESTION = "Which of two plans is faster, which needs less memory, and what makes the difference?"
EQUATIONS = ()
PRESETS = {
    "Tensor parallelism against ZeRO-3": {
        "model": "llama-3-8b",
        "tensor_parallel": 8,
        "pipeline_parallel": 1,
        "virtual_pipeline": 1,
        "context_parallel": 1,
        "schedule": "1f1b",
        "b_tensor_parallel": 1,
        "b_pipeline_parallel": 1,
        "b_virtual_pipeline": 1,
        "b_schedule": "1f1b",
        "b_zero_stage": "3",
        "b_framework": "fsdp",
        "b_recompute": "selective",
    },
    "Recompute everything, or nothing": {
        "tensor_parallel": 8,
        "pipeline_parallel": 2,
        "virtual_pipeline": 10,
        "context_parallel": 1,
        "b_recompute": "full",
    },
    "One port per node instead of eight": {
        "tensor_parallel": 8,
        "pipeline_parallel": 2,
        "virtual_pipeline": 10,
        "context_parallel": 1,
        "b_nics_per_node": 1,
    },
    "64 H100 against 32 B200": {
        "tensor_parallel": 8,
        "pipeline_parallel": 2,
        "virtual_pipeline": 10,
        "context_parallel": 1,
        "b_gpu": "B200",
        "b_world_size": 32,
    },
}
_MODEL = ("The cost model of the site, whose constants are fitted to published runs.",)
_HELD = ("States, activations and buffers of the fullest rank, by the memory model of the site.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Both plans with their numbers.

    Attributes:
        first, second: plans A and B.
        parts: by how many seconds each part of B's step is longer than A's.
        tied: the ranges of their steps overlap.
        stations: the plans between them.
    """

    first: Side
    second: Side
    parts: dict[str, Seconds]
    tied: bool
    stations: tuple[Station, ...]
    ratio: Annotated[Ratio, Told("B's step over A's", color="compute", assumes=_MODEL)]
    first_step: Annotated[Seconds, Told("Step of A", color="compute", assumes=_MODEL)]
    second_step: Annotated[Seconds, Told("Step of B", color="compute", assumes=_MODEL)]
    first_rate: Annotated[TokenRate, Told("Per GPU, A", assumes=_MODEL)]
    second_rate: Annotated[TokenRate, Told("Per GPU, B", assumes=_MODEL)]
    first_mfu: Annotated[Share, Told("MFU of A", assumes=_MODEL)]
    second_mfu: Annotated[Share, Told("MFU of B", assumes=_MODEL)]
    first_held: Annotated[Bytes, Told("Fullest GPU, A", color="memory", assumes=_HELD)]
    second_held: Annotated[Bytes, Told("Fullest GPU, B", color="memory", assumes=_HELD)]


def _side(inputs: RunInputs) -> Side:
    run, changes = run_of(inputs)
    return Side(
        run=run,
        changes=changes,
        plan=one_candidate(run),
        doubts=doubts(run),
        evidence=evidence(run),
    )


def solve(inputs: Any) -> Result:  # noqa: ANN401 (the inputs are made, not written)
    """Return both plans, and the way from one to the other."""
    before, after = inputs_of(inputs, "A"), inputs_of(inputs, "B")
    first, second = _side(before), _side(after)
    found, others = estimate(first.run), estimate(second.run)
    low, high, _ = step_range(first.run, first.plan.step)
    other_low, other_high, _ = step_range(second.run, second.plan.step)
    return Result(
        first=first,
        second=second,
        tied=other_low <= high and low <= other_high,
        parts=dict(differences(second.plan, first.plan)),
        stations=tuple(way(before, after)),
        ratio=second.plan.step / first.plan.step,
        first_step=first.plan.step,
        second_step=second.plan.step,
        first_rate=found["tokens_per_second_per_gpu"],
        second_rate=others["tokens_per_second_per_gpu"],
        first_mfu=found["mfu"],
        second_mfu=others["mfu"],
        first_held=first.plan.held.total,
        second_held=second.plan.held.total,
    )


def views(inputs: Any, result: Result) -> Views:  # noqa: ANN401 (the inputs are made, not written)
    """Return the views, in the order of the page."""
    tell, pair = Teller(result), (inputs_of(inputs, "A"), inputs_of(inputs, "B"))
    return {
        "ratio": tell.value("ratio"),
        "verdict": pictures.verdict(result.first, result.second, result.parts, tied=result.tied),
        "steps": partial(pictures.steps, result.first, result.second),
        "memory": partial(pictures.memory, result.first, result.second),
        "first_step": ranged(tell, "first_step", result.first.evidence, assumes=_MODEL),
        "second_step": ranged(tell, "second_step", result.second.evidence, assumes=_MODEL),
        **tell.values("first_rate", "second_rate", "first_mfu", "second_mfu"),
        **tell.values("first_held", "second_held"),
        "first_possible": pictures.possible("A", result.first),
        "second_possible": pictures.possible("B", result.second),
        "changes": partial(pictures.changes, pair, result.first, result.stations),
        "first_export": partial(pictures.export, "A", result.first),
        "second_export": partial(pictures.export, "B", result.second),
    }
