"""What the schedule lab solves: the reader's schedule, played, and the others beside it."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.slices import Slices, part, whole
from engine.basis.told import Told
from engine.basis.units import COUNT, Bytes, Count, Seconds, Share
from engine.calculators.splitting_the_model.schedule_lab.inputs import Inputs, case_of
from engine.formulas.pipeline import bubble_share, one_f_one_b_peak
from engine.simulate.pipeline import Run
from engine.simulate.schedule_bench import Played, beside, copies_of, measured, playing, setting_of
from engine.simulate.schedule_case import Case, cut_of
from engine.simulate.schedule_idle import closed_idle

_COLUMN = tuple(sorted({round(2 ** (exponent / 4)) for exponent in range(33)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The step, the figures of every schedule, and the numbers that are told.

    Attributes:
        case: what was to be played.
        run: the step of the reader's schedule.
        own: its figures.
        others: those of every schedule, or why there are none.
        cut: the layers of each part of the model, along it; empty if all parts are alike.
        closed: the idle time by the published formula, if there is one.
        few: whether chunks wait for micro-batches that are fewer than the stages, which the
            published formula leaves out.
        column, closed_column: micro-batches, and 1F1B's bubble by the closed form over them.
        usual_memory: weights and activations of 1F1B's fullest stage.
    """

    case: Case
    run: Run
    own: Played
    others: dict[str, Played | str]
    cut: tuple[Count, ...]
    closed: Seconds | None
    few: bool
    column: tuple[Count, ...]
    closed_column: tuple[Share, ...]
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
    return Result(
        case=case,
        run=run,
        own=own,
        others=others,
        cut=cut,
        closed=None if cut else closed_idle(own.name, (p, m, v), passes, case.pair),
        few=own.name in ("interleaved", "breadth_first") and v > 1 and m < p,
        column=_COLUMN,
        closed_column=tuple(bubble_share(p, m) for m in _COLUMN),
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
