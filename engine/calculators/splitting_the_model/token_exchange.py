"""Token exchange: a few GPUs, eight experts, and the matrix of copies that they send each other."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Teller, Told, Views
from engine.core.units import BYTES, Bytes, Count, Ratio
from engine.core.views import Heatmap
from engine.draw.token_exchange import exchange_scene
from engine.simulate.layer.router import Router, Row
from engine.simulate.layer.token_matrix import Matrix, arrived, copies_between, hottest, leaves

TITLE = "Dispatch and combine, step by step"
QUESTION = "Which GPU sends how many tokens to which?"
EQUATIONS = ()
PRESETS = {
    "A hot expert": {"favor": 2.0},
    "Eight GPUs, one expert each": {"ranks": "8"},
    "No favorites": {"favor": 0.0},
}
_EXPERTS, _HIDDEN = 8, 7168
_FP8, _HALF = 1.0, 2.0
_ASSUMES = (
    "Eight experts, on the GPUs in order; copies of 7,168 elements, out in fp8 and back in bf16.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    ranks: Annotated[str, Choice(label="GPUs", options={"2": "2", "4": "4", "8": "8"})] = "4"
    experts_per_token: Annotated[
        int, Number(label="Experts per token", low=1, high=_EXPERTS, whole=True, symbol="k")
    ] = 2
    each: Annotated[
        int, Number(label="Tokens of a GPU", low=4, high=64, step=4, whole=True, symbol="T")
    ] = 16
    favor: Annotated[
        float,
        Number(
            label="Preference for expert 1",
            low=0.0,
            high=3.0,
            step=0.25,
            help="In logits; all other experts have 0.",
        ),
    ] = 1.5
    seed: Annotated[int, Number(label="Batch", low=1, high=100, whole=True, advanced=True)] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The matrix and its sums."""

    matrix: Matrix
    moved: Annotated[
        Count,
        Told(
            "Copies that change GPU",
            note="of {copies}",
            color="communication",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    copies: Count
    busiest: Annotated[
        Bytes,
        Told(
            "Sent by the busiest GPU, out",
            note="back it gets {returned}",
            color="communication",
            basis="simulated",
            assumes=_ASSUMES,
            sources=("lepikhin2021",),
        ),
    ]
    returned: Bytes
    hottest: Annotated[
        Ratio,
        Told(
            "Work of the fullest GPU",
            note="over the mean; {most} copies",
            color="compute",
            basis="simulated",
            assumes=_ASSUMES,
        ),
    ]
    most: Count


def solve(inputs: Inputs) -> Result:
    """Return the matrix of a routed batch and its sums."""
    router = Router(
        num_experts=_EXPERTS,
        experts_per_token=inputs.experts_per_token,
        capacity_factor=0.0,
        seed=inputs.seed,
    )
    preferences: Row = (inputs.favor, *(0.0,) * (_EXPERTS - 1))
    matrix = copies_between(router, preferences, int(inputs.ranks), inputs.each)
    sent = leaves(matrix)
    return Result(
        matrix=matrix,
        moved=sum(sent),
        copies=sum(map(sum, matrix)),
        busiest=max(sent) * _HIDDEN * _FP8,
        returned=max(sent) * _HIDDEN * _HALF,
        hottest=hottest(matrix),
        most=max(arrived(matrix)),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the scene, its sums and the matrix in bytes."""
    tell = Teller(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(exchange_scene, result.matrix, _HIDDEN * _FP8, _HIDDEN * _HALF),
        **tell.values("moved", "busiest", "hottest"),
        "bytes": partial(_bytes, result),
    }


def _bytes(result: Result) -> Heatmap:
    names = tuple(f"GPU {rank}" for rank in range(len(result.matrix)))
    return Heatmap(
        title="Bytes of the dispatch",
        x_label="to",
        y_label="from",
        x=names,
        y=names,
        values=tuple(
            tuple(
                0.0 if source == target else count * _HIDDEN * _FP8
                for target, count in enumerate(row)
            )
            for source, row in enumerate(result.matrix)
        ),
        quantity=BYTES,
        caption="What stays on its GPU crosses no link. The combine sends the transposed matrix, "
        "with two bytes per element twice as large.",
    )
