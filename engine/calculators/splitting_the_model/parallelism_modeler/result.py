"""Results of the parallelism modeler: the nearest possible plan and its numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import (
    MOST_MICROBATCHES,
    Asked,
    Change,
    Inputs,
    changes_of,
    possible_plan,
    published_inputs_result,
    reported_run,
)
from engine.catalog.reported_runs import ReportedRun
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Symbol
from engine.core.text import Text
from engine.core.units import (
    LINK_SPEED,
    Bytes,
    Count,
    FlopRate,
    GpuTime,
    Parameters,
    Ratio,
    Seconds,
    Share,
    TokenRate,
    Tokens,
)
from engine.formulas.axes import HALF, exposed_ratio, least_bandwidth, stage_message
from engine.formulas.pipeline import bubble_over_ideal, bubble_share, pipeline_bytes
from engine.simulate.layer.batch_cuts import BatchCut, batch_cuts
from engine.simulate.pipeline.published_pipeline import printed_outputs
from engine.simulate.step.modeled_plan import (
    ModeledPlan,
    active_parameters_per_gpu,
    compute_share,
    dense_peak,
    replica_tokens,
)

_ALIKE = "All stages alike, messages free."
_COLUMN = tuple(sorted({round(MOST_MICROBATCHES ** (i / 24)) for i in range(25)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the modeler.

    Attributes:
        plan: the possible plan nearest to the inputs, modelled.
        changes: what differs from the inputs, in sentences.
        report: what was published of just this plan, if anything.
        column: micro-batches of the curves.
        closed: share of the step that the bubble leaves, over them.
        modeled: share of the step that computes, likewise.
        changed: the changes of `changes_of`, each with the plan after it.
        batch_sent: over one boundary in a step, one way.
        batch_cuts: the same batch in more or fewer micro-batches.
        printed: what a published calculator prints for the same inputs, by output.
    """

    plan: ModeledPlan
    changes: tuple[Text, ...]
    ratio: Annotated[
        Share,
        Output(
            "Exposed communication over computation",
            "r",
            note="{exposed} of {compute}",
            color="communication",
            sources=("nccl_tests",),
        ),
    ]
    exposed: Annotated[Seconds, Symbol("Te")]
    compute: Seconds
    step: Annotated[Seconds, Output("Step", "T")]
    tokens: Tokens
    gpus: Count
    token_time: Annotated[
        GpuTime,
        Output("GPU time for a million tokens", note="compares plans of different sizes"),
    ]
    token_rate: Annotated[TokenRate, Output("Tokens per second per GPU")]
    mfu: Annotated[Share, Output("MFU", color="compute", sources=("chowdhery2022",))]
    report: ReportedRun | None
    computation: Annotated[
        Seconds,
        Output(
            "A GPU computes, in a step",
            "Tc",
            note="its layers alone, at {utilization} of the peak",
            color="compute",
            assumes=(
                "Layers only, stages alike; P is a GPU's share of them, t all tokens of its "
                "replica.",
            ),
        ),
    ]
    parameters_at_work: Annotated[Parameters, Symbol("P")]
    tokens_at_work: Tokens
    peak: Annotated[FlopRate, Output(symbol="F", of="gpu")]
    utilization_after: Annotated[
        Share,
        Output(
            "Utilization after the bubble",
            color="compute",
            assumes=(_ALIKE, "One less the bubble's share; nothing else costs time."),
            sources=("huang2019", "narayanan2021"),
        ),
    ]
    bubble_share: Annotated[
        Share, Output("Bubble, of the step", "q", note="{bubble_over_ideal} over the ideal time")
    ]
    bubble_over_ideal: Annotated[
        Share, Output("Bubble, over the ideal time", "o", note="{bubble_share} of the step")
    ]
    stages: Annotated[Count, Output(symbol="p", of="pipeline_parallel")]
    microbatches: Annotated[Count, Output(symbol="m", of="num_microbatches")]
    pieces: Annotated[Count, Symbol("v")]
    operations: Annotated[
        Count,
        Output(
            "Passes in a step",
            basis="definition",
            assumes=("A forward and a backward pass of each micro-batch on each stage.",),
        ),
    ]
    boundary: Annotated[
        Bytes,
        Output(
            "Over a boundary, one micro-batch",
            "S",
            color="pipeline",
            assumes=("All GPUs of a replica's stage together; each way.",),
        ),
    ]
    microbatch_tokens: Tokens
    hidden: Count
    element: Annotated[Bytes, Symbol("e")]
    transfer: Annotated[Bytes, Output("Over one boundary in a step", "V", color="pipeline")]
    transfer_total: Annotated[Bytes, Output("Over all boundaries in a step", color="pipeline")]
    two: Count
    all_pieces: Count
    needed_pipeline: Annotated[
        float,
        LINK_SPEED,
        Output(
            "Least bandwidth between stages",
            "B",
            color="pipeline",
            assumes=(
                "Of a GPU of a middle stage, which sends forward and back; one way.",
                "With less no schedule can hide it.",
            ),
            sources=("narayanan2021",),
        ),
    ]
    sent_on: Bytes
    tensor_alone: Annotated[
        Ratio,
        Output(
            "Tensor parallelism alone, over computation",
            color="tensor",
            assumes=(
                "All of its collectives one after another, nothing hidden; bandwidths as large "
                "messages were measured to reach them.",
                "Computation at {utilization} of the peak.",
            ),
            sources=("narayanan2021",),
        ),
    ]
    tensor_time: Seconds
    activation: Annotated[
        Bytes,
        Output("Activations on the first stage", color="activations", sources=("korthikanti2022",)),
    ]
    first_layers: Count
    first_held: Ratio
    peak_memory: Annotated[
        Bytes,
        Output(
            "GPU that holds most",
            "M",
            color="optimizer",
            sources=("korthikanti2022", "rajbhandari2020"),
        ),
    ]
    usable: Bytes
    column: tuple[Count, ...]
    closed: tuple[Share, ...]
    modeled: Lazy[tuple[Share, ...]]
    changed: Lazy[dict[str, tuple[Change, ModeledPlan]]]
    batch_sent: Bytes
    batch_cuts: Lazy[tuple[BatchCut, ...]]
    printed: Mapping[str, str]
    asked: Asked


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    plan, changes = possible_plan(inputs)
    run = plan.run
    sizes = run.plan.pipeline_parallel, plan.microbatches, run.plan.virtual_pipeline
    share = bubble_share(*sizes)
    tokens = inputs.micro_batch_size * inputs.sequence_length
    whole = stage_message(tokens, run.model.hidden_size)
    sent = {axis.key: axis.sent for axis in plan.axes}.get("pipeline", 0.0)
    alone = {axis.key: axis.alone for axis in plan.axes}.get("tensor", 0.0)
    first, pieces = plan.stages[0], inputs.pipeline_parallel * sizes[2]
    batch_sent = whole * inputs.num_microbatches
    sequences = inputs.micro_batch_size * inputs.num_microbatches
    return Result(
        plan=plan,
        changes=changes,
        ratio=exposed_ratio(plan.exposed, plan.step.compute),
        exposed=plan.exposed,
        compute=plan.step.compute,
        step=plan.step.total,
        tokens=run.training.global_batch_size * run.training.sequence_length,
        gpus=run.plan.world_size,
        token_time=plan.token_time,
        token_rate=plan.token_rate,
        mfu=plan.mfu,
        report=reported_run(run),
        computation=plan.computation,
        parameters_at_work=active_parameters_per_gpu(run),
        tokens_at_work=replica_tokens(run),
        peak=dense_peak(run),
        utilization_after=1 - share,
        bubble_share=share,
        bubble_over_ideal=bubble_over_ideal(*sizes),
        stages=sizes[0],
        microbatches=sizes[1],
        pieces=sizes[2],
        operations=2 * inputs.pipeline_parallel * plan.microbatches,
        boundary=whole,
        microbatch_tokens=tokens,
        hidden=run.model.hidden_size,
        element=HALF,
        # One stage has no boundary.
        transfer=pipeline_bytes(plan.microbatches, min(2, sizes[0]), whole),
        two=min(2, sizes[0]),
        transfer_total=pipeline_bytes(plan.microbatches, pieces, whole),
        all_pieces=pieces,
        needed_pipeline=least_bandwidth(sent, plan.computation),
        sent_on=sent,
        tensor_alone=plan.tensor_over_computation,
        tensor_time=alone,
        activation=first.memory.activations,
        first_layers=first.layers,
        first_held=first.microbatches_in_flight,
        peak_memory=plan.stages[plan.fullest].memory.total,
        usable=plan.usable,
        column=_COLUMN,
        closed=tuple(1 - bubble_share(sizes[0], m, sizes[2]) for m in _COLUMN),
        modeled=Lazy(lambda: tuple(compute_share(run, m) for m in _COLUMN)),
        changed=Lazy(partial(_changed, inputs)),
        batch_sent=batch_sent,
        batch_cuts=Lazy(partial(batch_cuts, run, sequences, batch_sent)),
        printed=printed_outputs(
            run.model.num_layers,
            inputs.pipeline_parallel,
            inputs.num_microbatches,
            tokens,
            whole,
        ),
        asked=published_inputs_result(inputs, plan, whole),
    )


def _changed(inputs: Inputs) -> dict[str, tuple[Change, ModeledPlan]]:
    present = possible_plan(inputs)[1]
    changed = {
        key: (change, *possible_plan(replace(inputs, **change)))  # type: ignore[arg-type]
        for key, change in changes_of(inputs).items()
    }
    # What would be computed with other sizes than its name says is no advice.
    return {
        key: (change, plan)
        for key, (change, plan, presence) in changed.items()
        if presence == present
    }
