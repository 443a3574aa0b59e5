"""Async tensor parallelism: one layer in pieces that run beside their collectives."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Teller, Told, Views
from engine.core.units import SECONDS, Gbit, Ratio, Seconds, Share
from engine.core.views import Axis, Bar, Bars, Lane, Segment, Span, Timeline
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.lab import LabContention, LabModel, LabTokens
from engine.simulate.overlap.async_layer import Layer, one_layer
from engine.simulate.overlap.overlap_job import Setting
from engine.simulate.streams.exposed_time import Part
from engine.simulate.streams.streams import COMPUTE, SCALE_UP

TITLE = "One layer of async tensor parallelism"
QUESTION = "What can a product do while its input is still arriving?"
PRESETS = {
    "Blocking": {"pieces": 1},
    "8B": {"model": "llama-3-8b", "tokens": 8192},
    "No contention": {"slow_down": 0.0},
}
_SIMULATED = (
    "Attention and feed-forward part are drawn as one layer: their gathers in front, their "
    "scatters behind.",
    "Pieces of a product are taken to be as fast as the whole; smaller products use the GPU less "
    "well.",
)
_CUTS = (1, 2, 4, 8, 16)


def _told(label: str, note: str, color: str) -> Told:
    return Told(label, "", note, color, _SIMULATED, ("async_tp2024",), "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    pieces: Annotated[
        int,
        Number(
            label="Pieces",
            low=1,
            high=16,
            scale="log2",
            whole=True,
            help="Of each product and of its collectives; PyTorch takes as many as ranks.",
        ),
    ] = 8
    ranks: Annotated[
        str, Choice(label="Tensor parallel", options={n: n for n in ("2", "4", "8")})
    ] = "8"
    model: LabModel = "llama-3-70b"
    tokens: LabTokens = 4096
    slow_down: LabContention = 0.19
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The layer in pieces, and blocking."""

    layer: Layer
    cuts: tuple[Layer, ...]
    time: Annotated[
        Seconds, _told("One layer", "forward and backward; {blocking} if it blocks", "ink")
    ]
    blocking: Seconds
    exposed: Annotated[
        Seconds, _told("Waited for", "of {communication} of communication", "communication")
    ]
    communication: Seconds
    hidden: Annotated[Share, _told("Hidden", "of the communication", "compute")]
    contention: Annotated[
        Seconds,
        _told("Computation takes longer by", "while collectives run beside it", "compute"),
    ]
    gain: Annotated[
        Ratio,
        _told("Speedup of the layer", "over blocking", "compute"),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the layer, and the same layer in other numbers of pieces."""
    setting = Setting(
        model=inputs.model,
        gpu=inputs.gpu,
        tensor_parallel=int(inputs.ranks),
        pipeline_parallel=1,
        data_parallel=1,
        num_microbatches=1,
        tokens=inputs.tokens,
        port=400 * Gbit,
        own=inputs.own_constants,
    )
    setting = replace(setting, slow_down=inputs.slow_down)
    layer, blocking = one_layer(setting, inputs.pieces), one_layer(setting, 1)
    seen = layer.seen
    return Result(
        layer=layer,
        cuts=tuple(one_layer(setting, pieces) for pieces in _CUTS),
        time=seen.length,
        blocking=blocking.seen.length,
        exposed=seen.exposed,
        communication=seen.communication,
        hidden=seen.hidden / seen.communication,
        contention=seen.contention,
        gain=blocking.seen.length / seen.length,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        "timeline": partial(_timeline, result),
        **tell.values("time", "exposed", "hidden", "contention", "gain"),
        "cuts": partial(_cuts, result),
    }


def _timeline(result: Result) -> Timeline:
    length = result.layer.seen.length
    return Timeline(
        title="One layer, forward and backward",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.01 * length),
        lanes=(Lane(key=COMPUTE, label="compute"), Lane(key=SCALE_UP, label="NVLink")),
        spans=tuple(map(_drawn, result.layer.parts)),
        caption="Hatched: communication that nothing hides. All pieces between the first and the "
        "last are drawn as one.",
        player=True,
    )


def _drawn(part: Part) -> Span:
    op = part.ran.op
    return Span(
        key=part.key,
        lane=op.stream,
        start=part.start,
        end=part.end,
        label=_named(op.label),
        color="compute" if op.stream == COMPUTE else "communication",
        exposed=part.exposed,
        after=op.after if part.number == 1 else (),
    )


def _named(label: str) -> str:
    return label.replace(" of tensor parallelism", "").replace(", layer 1", "")


def _cuts(result: Result) -> Bars:
    high = 1.05 * max(one.seen.length for one in result.cuts)
    return Bars(
        title="One layer by number of pieces",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=f"cut{pieces}",
                label="blocking" if pieces == 1 else f"{pieces} pieces",
                segments=(
                    Segment(
                        key="compute", label="computation", value=one.seen.compute, color="compute"
                    ),
                    Segment(
                        key="contention",
                        label="longer beside collectives",
                        value=one.seen.contention,
                        color="muted",
                    ),
                    Segment(
                        key="exposed",
                        label="waiting",
                        value=one.seen.exposed,
                        color="communication",
                    ),
                ),
            )
            for pieces, one in zip(_CUTS, result.cuts, strict=True)
        ),
    )
