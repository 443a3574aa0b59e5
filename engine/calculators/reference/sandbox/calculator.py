"""Sandbox: two plans with every input of a run, compared change by change."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.calculators.reference.sandbox import pictures
from engine.calculators.reference.sandbox.inputs import Inputs as Inputs
from engine.calculators.reference.sandbox.inputs import inputs_of
from engine.calculators.reference.sandbox.pictures import Side
from engine.calculators.reference.sandbox.way import ChangedPlan, plans_between
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Bytes, Ratio, Seconds, Share, TokenRate
from engine.estimate import estimate
from engine.form.run.inputs import Inputs as RunInputs
from engine.form.run.nearest_valid import nearest_run
from engine.form.run.prediction_text import value_with_range
from engine.run.doubts import run_warnings
from engine.simulate.planner.evaluate import run_candidate
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
    stations: tuple[ChangedPlan, ...]
    ratio: Annotated[Ratio, Output("B's step over A's", color="compute", assumes=_MODEL)]
    first_step: Annotated[Seconds, Output("Step of A", color="compute", assumes=_MODEL)]
    second_step: Annotated[Seconds, Output("Step of B", color="compute", assumes=_MODEL)]
    first_rate: Annotated[TokenRate, Output("Per GPU, A", assumes=_MODEL)]
    second_rate: Annotated[TokenRate, Output("Per GPU, B", assumes=_MODEL)]
    first_mfu: Annotated[Share, Output("MFU of A", assumes=_MODEL)]
    second_mfu: Annotated[Share, Output("MFU of B", assumes=_MODEL)]
    first_held: Annotated[Bytes, Output("Fullest GPU, A", color="memory", assumes=_HELD)]
    second_held: Annotated[Bytes, Output("Fullest GPU, B", color="memory", assumes=_HELD)]


def _side(inputs: RunInputs) -> Side:
    run, changes = nearest_run(inputs)
    return Side(
        run=run,
        changes=changes,
        plan=run_candidate(run),
        doubts=run_warnings(run),
        evidence=evidence(run),
    )


def solve(inputs: Any) -> Result:  # noqa: ANN401 (the inputs are made, not written)
    """Return both plans, and the sequence of changes between them."""
    before, after = inputs_of(inputs, "A"), inputs_of(inputs, "B")
    first, second = _side(before), _side(after)
    own, others = estimate(first.run), estimate(second.run)
    low, high, _ = step_range(first.run, first.plan.step)
    other_low, other_high, _ = step_range(second.run, second.plan.step)
    return Result(
        first=first,
        second=second,
        tied=other_low <= high and low <= other_high,
        parts=dict(differences(second.plan, first.plan)),
        stations=tuple(plans_between(before, after)),
        ratio=second.plan.step / first.plan.step,
        first_step=first.plan.step,
        second_step=second.plan.step,
        first_rate=own["tokens_per_second_per_gpu"],
        second_rate=others["tokens_per_second_per_gpu"],
        first_mfu=own["mfu"],
        second_mfu=others["mfu"],
        first_held=first.plan.memory.total,
        second_held=second.plan.memory.total,
    )


def views(inputs: Any, result: Result) -> Views:  # noqa: ANN401 (the inputs are made, not written)
    """Return the views, in the order of the page."""
    present, pair = Presenter(result), (inputs_of(inputs, "A"), inputs_of(inputs, "B"))
    return {
        "ratio": present.value("ratio"),
        "verdict": pictures.verdict(result.first, result.second, result.parts, tied=result.tied),
        "steps": partial(pictures.step_bars, result.first, result.second),
        "memory": partial(pictures.memory_bars, result.first, result.second),
        "first_step": value_with_range(
            present, "first_step", result.first.evidence, assumes=_MODEL
        ),
        "second_step": value_with_range(
            present, "second_step", result.second.evidence, assumes=_MODEL
        ),
        **present.values("first_rate", "second_rate", "first_mfu", "second_mfu"),
        **present.values("first_held", "second_held"),
        "first_possible": pictures.feasibility_badge("A", result.first),
        "second_possible": pictures.feasibility_badge("B", result.second),
        "changes": partial(pictures.change_table, pair, result.first, result.stations),
        "first_export": partial(pictures.config_code, "A", result.first),
        "second_export": partial(pictures.config_code, "B", result.second),
    }
