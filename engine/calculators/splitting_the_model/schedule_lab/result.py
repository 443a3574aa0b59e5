"""Results of the schedule lab: the chosen schedule and the others, simulated."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import MEBIBYTES, MILLISECONDS, PERCENT, Choice, Number, Switch, Unit
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.slices import SlicedRun, Slices, partial_progress, run_to_end
from engine.core.units import BYTES, COUNT, GB, MILLI, Bytes, Count, GiB, MiB, Ratio, Seconds, Share
from engine.formulas.pipeline import bubble_share, one_f_one_b_peak
from engine.run.exporters.stage_layout import format_layout
from engine.schedules.interleaved import group
from engine.simulate.pipeline.pipeline import PipelineRun
from engine.simulate.pipeline.pipeline_measures import activation_timeline, peak_activations
from engine.simulate.pipeline.schedule_bench import (
    MOST_MICROBATCHES,
    ScheduleCase,
    ScheduleResult,
    bubble_curve,
    compare_schedules,
    feasible_setting,
    frontier,
    measure_schedule,
    model_copies,
    num_operations,
    part_layers,
    part_times,
    schedule_result,
    schedule_titles,
    simulate_in_steps,
)
from engine.simulate.pipeline.schedule_idle import closed_form_idle

# Inputs of the schedule lab, and its schedules.

_LAYERS = Unit(" layers", 1.0)
_GIGABYTES = Unit(" GB", GB, {"MB": 1e6, "TB": 1e12, "GiB": GiB}, quantity=BYTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    schedule: Annotated[str, Choice(label="Schedule", options=schedule_titles())] = "one_f_one_b"
    pipeline_parallel: Annotated[
        int, Number(label="Stages", low=2, high=64, scale="log", whole=True, symbol="p")
    ] = 4
    num_microbatches: Annotated[
        int, Number(label="Micro-batches", low=1, high=256, scale="log", whole=True, symbol="m")
    ] = 8
    num_chunks: Annotated[
        int,
        Number(
            label="Chunks per rank",
            low=1,
            high=8,
            whole=True,
            symbol="v",
            help="For interleaved 1F1B and breadth-first; the other schedules fix it.",
        ),
    ] = 2
    forward: Annotated[
        float,
        Number(
            label="Forward",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=1.0,
            scale="log",
            symbol="F",
            help="A rank's layers on one micro-batch.",
        ),
    ] = 1 * MILLI
    backward_input: Annotated[
        float,
        Number(
            label="Backward, inputs",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=1.0,
            scale="log",
            symbol="B",
        ),
    ] = 1 * MILLI
    backward_weight: Annotated[
        float,
        Number(
            label="Backward, weights",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=1.0,
            scale="log",
            symbol="W",
        ),
    ] = 1 * MILLI
    message: Annotated[
        float,
        Number(
            label="Message to the next stage",
            unit=MILLISECONDS,
            low=0.0,
            high=100 * MILLI,
            step=0.05 * MILLI,
            help="Time on the wire; ranks go on computing meanwhile.",
        ),
    ] = 0.0
    overlapped: Annotated[
        float,
        Number(
            label="F&B, of F + B + W",
            unit=PERCENT,
            low=0.5,
            high=1.2,
            step=0.01,
            advanced=True,
            help="How long DualPipe's overlapped pair takes; below 100 % it hides communication.",
        ),
    ] = 1.0
    slow_stage: Annotated[
        int, Number(label="Slow stage", low=0, high=63, whole=True, advanced=True)
    ] = 0
    slowness: Annotated[
        float,
        Number(
            label="It takes longer by",
            unit=PERCENT,
            low=0.0,
            high=1.0,
            step=0.01,
            advanced=True,
        ),
    ] = 0.0
    num_layers: Annotated[
        int,
        Number(
            label="Layers, cut into whole ones",
            low=0,
            high=512,
            whole=True,
            advanced=True,
            help="0: all stages are alike. Where layers do not divide, the ends get fewer.",
        ),
    ] = 0
    embedding: Annotated[
        float,
        Number(
            label="Embedding takes as long as",
            unit=_LAYERS,
            low=0.0,
            high=8.0,
            step=0.1,
            advanced=True,
            help="On the first stage, besides its layers; counts if layers are set.",
        ),
    ] = 0.0
    output: Annotated[
        float,
        Number(
            label="Output layer and loss take as long as",
            unit=_LAYERS,
            low=0.0,
            high=8.0,
            step=0.1,
            advanced=True,
            help="On the last stage, besides its layers; counts if layers are set.",
        ),
    ] = 1.0
    off_first: Annotated[
        int,
        Number(
            label="Layers moved off the first stage",
            low=-32,
            high=32,
            whole=True,
            advanced=True,
            help="To the stages between; negative numbers fetch layers. Of chunks, the first one.",
        ),
    ] = 0
    off_last: Annotated[
        int,
        Number(
            label="Layers moved off the last stage", low=-32, high=32, whole=True, advanced=True
        ),
    ] = 0
    recompute: Annotated[
        bool,
        Switch(
            label="Recompute activations",
            help="The backward pass repeats the forward pass first.",
            advanced=True,
        ),
    ] = False
    synchronized: Annotated[
        bool,
        Switch(
            label="Ranks wait for one another between steps",
            help="As a gradient norm over all stages before the optimizer makes them do.",
            advanced=True,
        ),
    ] = False
    activation_size: Annotated[
        float,
        Number(
            label="Activations, whole model",
            unit=_GIGABYTES,
            low=0.01 * GB,
            high=1000 * GB,
            scale="log",
            advanced=True,
            help="Of one micro-batch: one GPU from each stage, added up.",
        ),
    ] = 11.4 * GB
    weight_size: Annotated[
        float,
        Number(
            label="Weights, whole model",
            unit=_GIGABYTES,
            low=0.01 * GB,
            high=10_000 * GB,
            scale="log",
            advanced=True,
            help="What one copy of the model takes: one GPU from each stage, added up.",
        ),
    ] = 17.65 * GB
    message_size: Annotated[
        float,
        Number(
            label="Bytes of a message",
            unit=MEBIBYTES,
            low=1 * MiB,
            high=1024 * MiB,
            scale="log",
            advanced=True,
        ),
    ] = 64 * MiB


def schedule_case(inputs: Inputs) -> ScheduleCase:
    """Return the schedule case to simulate."""
    return ScheduleCase(
        **{field.name: getattr(inputs, field.name) for field in fields(ScheduleCase)}
    )


# Changes that could shorten a schedule's idle time, and the figures after each of them.

Change = Mapping[str, float | int | str | bool]
_LARGEST = 3_000  # operations of a run that is only there for a remedy


def candidate_changes(case: ScheduleCase) -> dict[str, Change]:
    """Return the changes that are within range, by name."""
    changes: dict[str, Change] = {}
    if 2 * case.num_microbatches <= MOST_MICROBATCHES:
        changes["more"] = {"num_microbatches": 2 * case.num_microbatches}
    if case.slowness:
        changes["balance"] = {"slowness": 0.0}
    if case.num_layers:
        changes["alike"] = {"num_layers": 0}
        if (case.off_first, case.off_last) == (0, 0):
            # Each end gives as many layers as it has to do besides them.
            moved = {"off_first": round(case.embedding), "off_last": round(case.output)}
            changes["lighter"] = moved
    if case.message:
        changes["messages"] = {"message": 0.0}
    if case.synchronized:
        changes["free"] = {"synchronized": False}
    return changes


def play_changes(
    case: ScheduleCase, chosen: ScheduleResult, change: Change
) -> ScheduleResult | None:
    """Return the figures after a change; None if it would take too long, or cannot run."""
    changed = replace(case, **change)  # type: ignore[arg-type]
    if num_operations(changed.pipeline_parallel, changed.num_microbatches, 1) > _LARGEST:
        return None
    schedule = schedule_result(changed)
    return None if schedule.setting.reason and not chosen.setting.reason else schedule


_COLUMN = tuple(sorted({round(2 ** (exponent / 4)) for exponent in range(33)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step, the figures of every schedule, and the output numbers.

    Attributes:
        case: what was to be played.
        run: the step of the reader's schedule.
        chosen: its figures.
        others: those of every schedule, or why there are none.
        titles: of every schedule.
        shown: those whose bubble is drawn over their memory.
        best: of these, those that no other beats in both.
        changed: the figures after each change of `changes_of`; None if they cannot be had.
        peaks: most micro-batches held, by stage.
        held: (times, micro-batches held from then on) of the first stage and of the last.
        cut: the layers of each part of the model, along it; empty if all parts are alike.
        shares: what each part takes, over an even part.
        layout: the cut as Megatron-LM reads it.
        group: micro-batches that pass a chunk in a row, if the schedule is interleaved.
        closed: the idle time by the published formula, if there is one.
        few: whether chunks wait for micro-batches that are fewer than the stages, which the
            published formula leaves out.
        column, closed_column: micro-batches, and 1F1B's bubble by the closed form over them.
        played_column: (micro-batches, bubble) as played.
        usual_memory: weights and activations of 1F1B's fullest stage.
    """

    case: ScheduleCase
    run: PipelineRun
    chosen: ScheduleResult
    others: dict[str, ScheduleResult | str]
    titles: Mapping[str, str]
    shown: tuple[ScheduleResult, ...]
    best: tuple[ScheduleResult, ...]
    changed: Mapping[str, Lazy[ScheduleResult | None]]
    peaks: tuple[Ratio, ...]
    held: Lazy[tuple[tuple[tuple[Seconds, ...], tuple[Ratio, ...]], ...]]
    cut: tuple[Count, ...]
    shares: tuple[Ratio, ...]
    layout: str
    group: Count
    closed: Seconds | None
    few: bool
    column: tuple[Count, ...]
    closed_column: tuple[Share, ...]
    played_column: SlicedRun[list[tuple[float, float]]]
    usual_memory: Bytes
    stages: Annotated[Count, Output(symbol="p", of="pipeline_parallel")]
    chunks: Annotated[Count, Output(symbol="v", of="num_chunks")]
    one: Annotated[Seconds, Output(symbol="F", of="forward")]
    back: Annotated[Seconds, Output(symbol="I", of="backward_input")]
    weight: Annotated[Seconds, Output(symbol="W", of="backward_weight")]
    whole: Annotated[Seconds, Output(symbol="D")]
    pair: Annotated[Seconds, Output(symbol="O", of="overlapped")]
    bubble_share: Annotated[
        Share, Output("Bubble, share of the step", "q", "all stages together", basis="simulated")
    ]
    bubble_over_ideal: Annotated[
        Share, Output("Bubble, over the ideal", "o", "the same idle time", basis="simulated")
    ]
    idle: Annotated[Seconds, Output("Idle time per stage", "Ti", basis="simulated")]
    step: Annotated[Seconds, Output("Step", basis="simulated")]
    peak: Annotated[
        float,
        COUNT,
        Output(
            "Most micro-batches held",
            note="on the stage that holds most",
            color="activations",
            basis="simulated",
        ),
    ]
    activations: Annotated[
        Bytes,
        Output(
            "Their activations",
            note="each {activation_share}, a stage's share of the whole model's",
            color="activations",
            basis="simulated",
            assumes=(
                "Held from the start of the forward pass to the end of the backward pass, both "
                "halves of it.",
                "The stage that holds most.",
            ),
            sources=("korthikanti2022",),
        ),
    ]
    activation_share: Bytes
    copies: Annotated[
        Count,
        Output(
            "Copies of the weights",
            note="each is one part in p of the model",
            color="parameters",
            basis="definition",
            assumes=("Of its part of the model, as the schedule's file declares.",),
            sources=("dualpipe",),
        ),
    ]
    weights: Annotated[
        Bytes,
        Output(
            "Weights per stage",
            note="gradients and optimizer come on top",
            color="parameters",
            assumes=("The weights of the whole model over the stages, times the copies.",),
        ),
    ]
    messages: Annotated[
        Count,
        Output(
            "Messages",
            note="between all stages, both ways",
            color="communication",
            basis="simulated",
        ),
    ]
    message_bytes: Annotated[
        Bytes,
        Output("Bytes between stages", note="in a step", color="communication", basis="simulated"),
    ]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Simulate the chosen schedule, and then the others."""
    case = schedule_case(inputs)
    setting = feasible_setting(case)
    run = yield from partial_progress(simulate_in_steps(case, setting), 0, 2)
    chosen = measure_schedule(case, setting, run)
    others = yield from partial_progress(compare_schedules(case, chosen), 1, 2)
    p, m, v = setting.pipeline_parallel, setting.num_microbatches, setting.num_chunks
    passes = case.forward, case.backward, case.backward_weight
    usual = one_f_one_b_peak(0, p, m)
    cut = part_layers(case, p * run.program.num_parts)
    shown = _comparable(chosen, others)
    return Result(
        case=case,
        run=run,
        chosen=chosen,
        others=others,
        titles=schedule_titles(),
        shown=shown,
        best=tuple(frontier(shown)),
        changed={
            key: Lazy(partial(play_changes, case, chosen, change))
            for key, change in candidate_changes(case).items()
        },
        peaks=peak_activations(run),
        held=Lazy(lambda: tuple(activation_timeline(run, rank) for rank in (0, p - 1))),
        cut=cut,
        shares=part_times(case, len(cut)),
        layout=format_layout(cut) if cut else "",
        group=group(p, m),
        closed=None if cut else closed_form_idle(chosen.name, (p, m, v), passes, case.pair),
        few=chosen.name in ("interleaved", "breadth_first") and v > 1 and m < p,
        column=_COLUMN,
        closed_column=tuple(bubble_share(p, m) for m in _COLUMN),
        played_column=SlicedRun(bubble_curve(case, chosen)),
        usual_memory=usual * case.activation_size / p + case.weight_size / p,
        stages=p,
        chunks=v,
        one=case.forward,
        back=case.backward,
        weight=case.backward_weight,
        whole=case.backward + case.backward_weight,
        pair=case.pair,
        bubble_share=chosen.idle_share,
        bubble_over_ideal=chosen.idle_over_compute,
        idle=chosen.idle_share * chosen.step,
        step=chosen.step,
        peak=chosen.peak,
        activations=chosen.activations,
        activation_share=case.activation_size / p,
        copies=model_copies(chosen.name),
        weights=chosen.weights,
        messages=chosen.messages,
        message_bytes=chosen.messages * case.message_size,
    )


def _comparable(
    chosen: ScheduleResult, others: Mapping[str, ScheduleResult | str]
) -> tuple[ScheduleResult, ...]:
    """Return comparable schedules; a single micro-batch at a time would dwarf the others.

    Unless it is what the reader looks at.
    """
    played = (schedule for schedule in others.values() if isinstance(schedule, ScheduleResult))
    return tuple(
        schedule for schedule in played if schedule.name != "naive" or schedule.name == chosen.name
    ) or (chosen,)
