"""What the schedule lab solves: the reader's schedule, played, and the others beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.splitting_the_model.schedule_lab.changes import changes_of, played_with
from engine.calculators.splitting_the_model.schedule_lab.inputs import Inputs, case_of
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.slices import Running, Slices, part, whole
from engine.core.units import COUNT, Bytes, Count, Ratio, Seconds, Share
from engine.formulas.pipeline import bubble_share, one_f_one_b_peak
from engine.run.exporters.stage_layout import layout_of
from engine.schedules.interleaved import group
from engine.simulate.pipeline.pipeline import Run
from engine.simulate.pipeline.pipeline_measures import activations, peak_activations
from engine.simulate.pipeline.schedule_bench import (
    Played,
    beside,
    copies_of,
    measured,
    over_microbatches,
    playing,
    setting_of,
)
from engine.simulate.pipeline.schedule_case import Case, cut_of, pieces_of, schedules
from engine.simulate.pipeline.schedule_frontier import frontier
from engine.simulate.pipeline.schedule_idle import closed_idle

_COLUMN = tuple(sorted({round(2 ** (exponent / 4)) for exponent in range(33)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step, the figures of every schedule, and the numbers that are told.

    Attributes:
        case: what was to be played.
        run: the step of the reader's schedule.
        own: its figures.
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

    case: Case
    run: Run
    own: Played
    others: dict[str, Played | str]
    titles: Mapping[str, str]
    shown: tuple[Played, ...]
    best: tuple[Played, ...]
    changed: Mapping[str, Later[Played | None]]
    peaks: tuple[Ratio, ...]
    held: Later[tuple[tuple[tuple[Seconds, ...], tuple[Ratio, ...]], ...]]
    cut: tuple[Count, ...]
    shares: tuple[Ratio, ...]
    layout: str
    group: Count
    closed: Seconds | None
    few: bool
    column: tuple[Count, ...]
    closed_column: tuple[Share, ...]
    played_column: Running[list[tuple[float, float]]]
    usual_memory: Bytes
    stages: Annotated[Count, Told(symbol="p", of="pipeline_parallel")]
    chunks: Annotated[Count, Told(symbol="v", of="num_chunks")]
    one: Annotated[Seconds, Told(symbol="F", of="forward")]
    back: Annotated[Seconds, Told(symbol="I", of="backward_input")]
    weight: Annotated[Seconds, Told(symbol="W", of="backward_weight")]
    whole: Annotated[Seconds, Told(symbol="D")]
    pair: Annotated[Seconds, Told(symbol="O", of="overlapped")]
    bubble_share: Annotated[
        Share, Told("Bubble, share of the step", "q", "all stages together", basis="simulated")
    ]
    bubble_over_ideal: Annotated[
        Share, Told("Bubble, over the ideal", "o", "the same idle time", basis="simulated")
    ]
    idle: Annotated[Seconds, Told("Idle time per stage", "Ti", basis="simulated")]
    step: Annotated[Seconds, Told("Step", basis="simulated")]
    peak: Annotated[
        float,
        COUNT,
        Told(
            "Most micro-batches held",
            note="on the fullest stage",
            color="activations",
            basis="simulated",
        ),
    ]
    activations: Annotated[
        Bytes,
        Told(
            "Their activations",
            note="each {activation_share}, a stage's share of the whole model's",
            color="activations",
            basis="simulated",
            assumes=(
                "Held from the start of the forward pass to the end of the backward pass, both "
                "halves of it.",
                "The fullest stage.",
            ),
            sources=("korthikanti2022",),
        ),
    ]
    activation_share: Bytes
    copies: Annotated[
        Count,
        Told(
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
        Told(
            "Weights per stage",
            note="gradients and optimizer come on top",
            color="parameters",
            assumes=("The weights of the whole model over the stages, times the copies.",),
        ),
    ]
    messages: Annotated[
        Count,
        Told(
            "Messages",
            note="between all stages, both ways",
            color="communication",
            basis="simulated",
        ),
    ]
    message_bytes: Annotated[
        Bytes,
        Told("Bytes between stages", note="in a step", color="communication", basis="simulated"),
    ]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return whole(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Play the reader's schedule, and then the others."""
    case = case_of(inputs)
    setting = setting_of(case)
    run = yield from part(playing(case, setting), 0, 2)
    own = measured(case, setting, run)
    others = yield from part(beside(case, own), 1, 2)
    p, m, v = setting.pipeline_parallel, setting.num_microbatches, setting.num_chunks
    passes = case.forward, case.backward, case.backward_weight
    usual = one_f_one_b_peak(0, p, m)
    cut = cut_of(case, p * run.program.num_parts)
    shown = _shown(own, others)
    return Result(
        case=case,
        run=run,
        own=own,
        others=others,
        titles=schedules(),
        shown=shown,
        best=tuple(frontier(shown)),
        changed={
            key: Later(partial(played_with, case, own, change))
            for key, change in changes_of(case).items()
        },
        peaks=peak_activations(run),
        held=Later(lambda: tuple(activations(run, rank) for rank in (0, p - 1))),
        cut=cut,
        shares=pieces_of(case, len(cut)),
        layout=layout_of(cut) if cut else "",
        group=group(p, m),
        closed=None if cut else closed_idle(own.name, (p, m, v), passes, case.pair),
        few=own.name in ("interleaved", "breadth_first") and v > 1 and m < p,
        column=_COLUMN,
        closed_column=tuple(bubble_share(p, m) for m in _COLUMN),
        played_column=Running(over_microbatches(case, own)),
        usual_memory=usual * case.activation_size / p + case.weight_size / p,
        stages=p,
        chunks=v,
        one=case.forward,
        back=case.backward,
        weight=case.backward_weight,
        whole=case.backward + case.backward_weight,
        pair=case.pair,
        bubble_share=own.share,
        bubble_over_ideal=own.over,
        idle=own.share * own.step,
        step=own.step,
        peak=own.peak,
        activations=own.activations,
        activation_share=case.activation_size / p,
        copies=copies_of(own.name),
        weights=own.weights,
        messages=own.messages,
        message_bytes=own.messages * case.message_size,
    )


def _shown(own: Played, others: Mapping[str, Played | str]) -> tuple[Played, ...]:
    """Return the schedules that can be compared; one micro-batch at a time is out of every scale.

    Unless it is what the reader looks at.
    """
    found = (one for one in others.values() if isinstance(one, Played))
    return tuple(one for one in found if one.name != "naive" or one.name == own.name) or (own,)
