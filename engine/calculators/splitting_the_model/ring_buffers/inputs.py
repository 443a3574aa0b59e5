"""What a reader can change about the buffers of a ring, and what it takes."""

from dataclasses import dataclass
from itertools import islice
from typing import Annotated, cast

from engine.core.inputs import MILLISECONDS, PERCENT, Choice, Number
from engine.core.outputs import Told
from engine.core.units import MILLI, Count, Ratio, Seconds, Share
from engine.simulate.layer.attention_masks import Layout
from engine.simulate.layer.ring_attention import RingRun, ring_run
from engine.simulate.layer.ring_layouts import step_shares
from engine.simulate.numerics.rng import chances, normals

_STEP: Seconds = MILLI
_SIMULATED = (
    "A step of the ring computes for 1 ms on average; a block leaves when it is there, the link is "
    "free, and the receiver has a free buffer.",
)
_MOST_BUFFERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    num_buffers: Annotated[
        int, Number(label="Buffers", low=1, high=_MOST_BUFFERS, whole=True, symbol="b")
    ] = 2
    hop: Annotated[
        float,
        Number(
            label="A block travels for",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=3 * MILLI,
            step=0.1 * MILLI,
            help="A step computes for 1 ms.",
        ),
    ] = 0.8 * MILLI
    ranks: Annotated[
        str, Choice(label="GPUs in the ring", options={n: n for n in ("2", "4", "6", "8")})
    ] = "4"
    layout: Annotated[
        str,
        Choice(
            label="Cut",
            options={"zigzag": "zig-zag", "contiguous": "contiguous", "striped": "striped"},
        ),
    ] = "zigzag"
    jitter: Annotated[
        float,
        Number(
            label="Steps vary by",
            unit=PERCENT,
            low=0.0,
            high=0.5,
            step=0.05,
            help="Standard deviation of the computation of a step.",
        ),
    ] = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The ring with every number of buffers."""

    runs: tuple[RingRun, ...]
    world: Count
    end: Annotated[
        Seconds,
        Told(
            "One layer's attention",
            note="{computing} of it computing, on average",
            color="compute",
            basis="simulated",
            assumes=_SIMULATED,
        ),
    ]
    computing: Seconds
    waits: Annotated[
        Seconds,
        Told(
            "Waited, on average",
            note="{waits_one} with one buffer",
            color="communication",
            basis="simulated",
            assumes=_SIMULATED,
        ),
    ]
    waits_one: Seconds
    idle: Annotated[
        Share,
        Told(
            "Of the time",
            note="waiting for a block or for the slowest GPU",
            color="idle",
            basis="simulated",
            assumes=_SIMULATED,
        ),
    ]
    ratio: Annotated[
        Ratio,
        Told(
            "A step computes, over a block's way",
            note="above 1 the ring can hide",
            color="compute",
            basis="simulated",
            assumes=_SIMULATED,
        ),
    ]


def _work(inputs: Inputs) -> list[list[Seconds]]:
    """Return the seconds [step][rank] of computation."""
    ranks = int(inputs.ranks)
    shares = step_shares(cast(Layout, inputs.layout), ranks)
    noise = islice(normals(chances(7)), ranks * ranks)
    factors = [max(0.1, 1 + inputs.jitter * one) for one in noise]
    return [
        [_STEP * ranks * share * factors[step * ranks + rank] for rank, share in enumerate(row)]
        for step, row in enumerate(shares)
    ]


def solve(inputs: Inputs) -> Result:
    """Run the ring with one to four buffers."""
    work = _work(inputs)
    ranks = len(work)
    runs = tuple(ring_run(work, inputs.hop, many) for many in range(1, _MOST_BUFFERS + 1))
    computing = sum(map(sum, work)) / ranks
    now = runs[inputs.num_buffers - 1]
    return Result(
        runs=runs,
        world=ranks,
        end=now.end,
        computing=computing,
        waits=max(0.0, now.end - computing),
        waits_one=max(0.0, runs[0].end - computing),
        idle=max(0.0, 1 - computing / now.end),
        ratio=_STEP / inputs.hop,
    )
