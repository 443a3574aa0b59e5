"""Async tensor parallelism: a layer split into pieces that overlap with their collectives."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import SECONDS, Gbit, Ratio, Seconds, Share
from engine.core.views import Axis, Bar, Bars, Lane, Segment, Span, Timeline
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.lab import LabContention, LabModel, LabTokens
from engine.simulate.overlap.async_layer import SimulatedLayer, simulate_layer
from engine.simulate.overlap.overlap_job import OverlapSetting
from engine.simulate.streams.exposed_time import SpanPart
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


def _output(label: str, note: str, color: str) -> Output:
    return Output(label, "", note, color, _SIMULATED, ("async_tp2024",), "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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

    layer: SimulatedLayer
    cuts: tuple[SimulatedLayer, ...]
    time: Annotated[
        Seconds, _output("One layer", "forward and backward; {blocking} if it blocks", "ink")
    ]
    blocking: Seconds
    exposed: Annotated[
        Seconds, _output("Waited for", "of {communication} of communication", "communication")
    ]
    communication: Seconds
    hidden: Annotated[Share, _output("Hidden", "of the communication", "compute")]
    contention: Annotated[
        Seconds,
        _output("Computation takes longer by", "while collectives run beside it", "compute"),
    ]
    gain: Annotated[
        Ratio,
        _output("Speedup of the layer", "over blocking", "compute"),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the layer, and the same layer in other numbers of pieces."""
    setting = OverlapSetting(
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
    layer, blocking = simulate_layer(setting, inputs.pieces), simulate_layer(setting, 1)
    seen = layer.account
    return Result(
        layer=layer,
        cuts=tuple(simulate_layer(setting, pieces) for pieces in _CUTS),
        time=seen.length,
        blocking=blocking.account.length,
        exposed=seen.exposed,
        communication=seen.communication,
        hidden=seen.hidden / seen.communication,
        contention=seen.contention,
        gain=blocking.account.length / seen.length,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "timeline": partial(_timeline, result),
        **present.values("time", "exposed", "hidden", "contention", "gain"),
        "cuts": partial(_cuts, result),
    }


def _timeline(result: Result) -> Timeline:
    length = result.layer.account.length
    return Timeline(
        title="One layer, forward and backward",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.01 * length),
        lanes=(Lane(key=COMPUTE, label="compute"), Lane(key=SCALE_UP, label="NVLink")),
        spans=tuple(map(_part_span, result.layer.parts)),
        caption="Hatched: communication that nothing hides. All pieces between the first and the "
        "last are drawn as one.",
        player=True,
    )


def _part_span(part: SpanPart) -> Span:
    op = part.ran.op
    return Span(
        key=part.key,
        lane=op.stream,
        start=part.start,
        end=part.end,
        label=_part_name(op.label),
        color="compute" if op.stream == COMPUTE else "communication",
        exposed=part.exposed,
        after=op.after if part.number == 1 else (),
    )


def _part_name(label: str) -> str:
    return label.replace(" of tensor parallelism", "").replace(", layer 1", "")


def _cuts(result: Result) -> Bars:
    high = 1.05 * max(cut.account.length for cut in result.cuts)
    return Bars(
        title="One layer by number of pieces",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=f"cut{pieces}",
                label="blocking" if pieces == 1 else f"{pieces} pieces",
                segments=(
                    Segment(
                        key="compute",
                        label="computation",
                        value=cut.account.compute,
                        color="compute",
                    ),
                    Segment(
                        key="contention",
                        label="longer beside collectives",
                        value=cut.account.contention,
                        color="muted",
                    ),
                    Segment(
                        key="exposed",
                        label="waiting",
                        value=cut.account.exposed,
                        color="communication",
                    ),
                ),
            )
            for pieces, cut in zip(_CUTS, result.cuts, strict=True)
        ),
    )
