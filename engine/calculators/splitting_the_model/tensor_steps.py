"""Two matrix products on several GPUs, number by number, forward and backward."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number, Switch
from engine.core.outputs import Teller, Told, Views
from engine.core.units import Bytes, Count
from engine.core.views import Badge
from engine.draw.cut_matrices import Cut, cut_scene
from engine.formulas.axes import HALF, TENSOR_LAYER_BYTES, tensor_layer_bytes
from engine.formulas.volumes import tensor_passes
from engine.tiny.two_products import (
    HIDDEN,
    TOKENS,
    Moment,
    kept_numbers,
    two_products,
    whole_of,
    wrong_places,
)

TITLE = "Two products on several GPUs"
QUESTION = "How do eight GPUs multiply one matrix?"
EQUATIONS = (TENSOR_LAYER_BYTES,)
PRESETS = {
    "Two GPUs": {"ranks": "2"},
    "Eight GPUs, sequence parallel": {"ranks": "8", "sequence_parallel": True},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    ranks: Annotated[str, Choice(label="GPUs", options={n: n for n in ("1", "2", "4", "8")})] = "4"
    sequence_parallel: Annotated[
        bool,
        Switch(
            label="Sequence parallel",
            help="Between the cut regions each GPU keeps its own rows only.",
        ),
    ] = False
    gpu: Annotated[int, Number(label="GPU whose numbers are shown", low=0, high=7, whole=True)] = 0
    first: Annotated[
        int, Number(label="First number of X", low=-4, high=4, whole=True, symbol="x")
    ] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The two products, what they sent and what they kept."""

    moments: tuple[Moment, ...]
    tokens: Annotated[Count, Told(symbol="t")] = TOKENS
    hidden: Annotated[Count, Told(symbol="h")] = HIDDEN
    element: Annotated[Bytes, Told(symbol="e")] = HALF
    num_gpus: Annotated[Count, Told(symbol="n", of="ranks")]
    passes: Annotated[Count, Told(symbol="k", of="sequence_parallel")]
    numbers: Count
    sent: Annotated[
        Bytes,
        Told(
            "Sent by each GPU",
            "",
            "{numbers} numbers, forward and backward",
            "communication",
            assumes=("Every message of the run was counted, at two bytes a number.",),
            sources=("shoeybi2019",),
            basis="simulated",
        ),
    ]
    sent_formula: Annotated[
        Bytes,
        Told(
            "By the formula",
            "V",
            "half a layer: {passes} passes around the ring",
            "communication",
        ),
    ]
    outside: Annotated[
        Count,
        Told(
            "Kept outside the two products",
            "",
            "numbers of X and of dropout's mask, on each GPU",
            "activations",
            assumes=("Kept from the forward pass for the backward pass.",),
            sources=("korthikanti2022",),
            basis="simulated",
        ),
    ]
    inside: Annotated[
        Count,
        Told(
            "Kept between the two products",
            "",
            "numbers of Y on each GPU",
            "activations",
            assumes=("Kept from the forward pass for the backward pass.",),
            sources=("korthikanti2022",),
            basis="simulated",
        ),
    ]
    wrong: Annotated[
        Count,
        Told(
            "Places of Y that would be wrong",
            "",
            "of {places}, if A were cut by rows and nothing sent before ReLU",
            "communication",
            assumes=("Two GPUs, each with one row of A, each applying ReLU to its own part.",),
            sources=("shoeybi2019",),
            basis="simulated",
        ),
    ]
    places: Count = TOKENS * 8
    off: float


def solve(inputs: Inputs) -> Result:
    """Return the run, and its largest difference from one GPU."""
    ranks, scattered = int(inputs.ranks), inputs.sequence_parallel
    moments = two_products(ranks, sequence_parallel=scattered, first=inputs.first)
    alone = two_products(1, first=inputs.first)
    passes = tensor_passes(sequence_parallel=scattered) // 2
    outside, inside = kept_numbers(ranks, sequence_parallel=scattered)
    numbers = moments[-1].sent[0]
    return Result(
        moments=moments,
        num_gpus=ranks,
        passes=passes,
        numbers=numbers,
        sent=numbers * HALF,
        sent_formula=tensor_layer_bytes(TOKENS, HIDDEN, ranks, passes),
        outside=outside,
        inside=inside,
        wrong=wrong_places(inputs.first),
        off=_off(moments, alone),
    )


def _off(moments: tuple[Moment, ...], alone: tuple[Moment, ...]) -> float:
    """Return the largest difference between what several GPUs have at the end and what one has."""
    ends = [(now, one) for now, one in zip(moments, alone, strict=True) if not now.part]
    return max(
        abs((mine or 0.0) - (other or 0.0))
        for now, one in ends
        for name in ("X", "A", "Y", "B", "Z")
        for row in zip(whole_of(now, name), whole_of(one, name), strict=True)
        for mine, other in zip(*row, strict=True)
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    cut = Cut(
        moments=result.moments,
        rank=min(inputs.gpu, result.num_gpus - 1),
        sequence=inputs.sequence_parallel,
    )
    return {
        "scene": partial(cut_scene, cut),
        "equal": _equal(tell, result),
        **tell.values("sent", "sent_formula", "outside", "inside", "wrong"),
    }


def _equal(tell: Teller, result: Result) -> Badge:
    same = result.off == 0
    return Badge(
        text="Equal to one GPU" if same else "Not equal",
        sentence="After every phase in which nothing is a part of a sum, the matrices of all GPUs "
        "together are those of one GPU, to the last digit: whole numbers have no rounding."
        if same
        else tell.say("A number differs from that of one GPU."),
        color="parameters" if same else "communication",
    )
