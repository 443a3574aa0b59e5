"""Async tensor parallelism: a layer split into pieces that overlap with their collectives."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import SECONDS, Ratio, Seconds, Share
from engine.core.views import Axis, Bar, Bars, Lane, Segment, Span, Timeline
from engine.form.fields import LabGpu, OwnConstants
from engine.form.run.prediction_text import no_range_assumptions
from engine.form.sharded.lab import LabModel, LabTokens
from engine.run.run import Run
from engine.simulate.overlap.async_layer import (
    PlayedLayer,
    TensorJob,
    play_layer,
    tensor_job,
    tensor_run,
)
from engine.simulate.streams.exposed_time import SpanPart
from engine.simulate.streams.streams import COMPUTE, SCALE_UP

TITLE = "One layer of async tensor parallelism"
QUESTION = "What can a product do while its input is still arriving?"
HEADLINE = "estimated_gain"
PRESETS = {
    "Blocking": {"pieces": 1},
    "8B": {"model": "llama-3-8b", "tokens": 8192},
}
# An assumption beside the estimate, which has its own word for it.
FORMERLY = {"slow_down": ""}
_BOUND = (
    "A layer of the estimate, played. Attention and feed-forward part are drawn as one layer: "
    "their gathers in front, their scatters behind.",
    "A bound: pieces of a product are taken to be as fast as the whole, and copies to cost it "
    "nothing.",
)
_ESTIMATED = (
    "The estimate of this layer under PyTorch. In one piece nothing is hidden; in several, what "
    "measured runs hide, in however many pieces they do it.",
)
_STEP = (
    "The estimate of one micro-batch on this group alone, whether its states fit or not: the "
    "layers, and what the layer above leaves out.",
)
_CUTS = (1, 2, 4, 8, 16)


def _output(label: str, note: str, color: str) -> Output:
    return Output(label, "", note, color, _BOUND, ("async_tp2024",), "simulated")


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
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The layer in pieces, and blocking; the estimate of the layer and of its step."""

    job: TensorJob
    layer: PlayedLayer
    cuts: tuple[PlayedLayer, ...]
    time: Annotated[
        Seconds,
        _output("One layer, at best", "forward and backward; {blocking} if it blocks", "ink"),
    ]
    blocking: Seconds
    exposed: Annotated[
        Seconds,
        _output("Waited for, at least", "of {communication} of communication", "communication"),
    ]
    communication: Seconds
    hidden: Annotated[Share, _output("Hidden, at most", "of the communication", "compute")]
    gain: Annotated[Ratio, _output("Speedup of the layer, at most", "over blocking", "compute")]
    estimated: Annotated[
        Seconds,
        Output(
            "One layer, by the estimate",
            note="{estimated_hidden} of the communication hidden",
            assumes=_ESTIMATED,
            sources=("async_tp2024",),
        ),
    ]
    estimated_hidden: Share
    estimated_gain: Annotated[
        Ratio,
        Output("Speedup by the estimate", note="of the layer", color="compute", assumes=_ESTIMATED),
    ]
    step_time: Annotated[
        Seconds,
        Output("Step by the estimate", note="{left_out} of it are not layers", assumes=_STEP),
    ]
    left_out: Annotated[
        Seconds,
        Output(
            "Left out of the layers",
            note="embedding, output layer, optimizer, host, slowest GPU",
            color="optimizer",
            assumes=_STEP,
        ),
    ]


def run_of(inputs: Inputs) -> Run:
    """Return the job: one micro-batch of one tensor-parallel group."""
    return tensor_run(
        inputs.model,
        inputs.gpu,
        int(inputs.ranks),
        inputs.tokens,
        overlap=inputs.pieces > 1,
        own_constants=inputs.own_constants,
    )


def solve(inputs: Inputs) -> Result:
    """Return the layer, the same layer in other numbers of pieces, and the estimate."""
    job = tensor_job(run_of(inputs))
    layer = play_layer(job, inputs.pieces)
    seen, blocking = layer.account, job.blocking.total
    exposed = job.layer.tensor_parallel / job.blocking.tensor_parallel
    return Result(
        job=job,
        layer=layer,
        cuts=tuple(play_layer(job, pieces) for pieces in _CUTS),
        time=seen.length,
        blocking=blocking,
        exposed=seen.exposed,
        communication=seen.communication,
        hidden=seen.hidden / seen.communication,
        gain=blocking / seen.length,
        estimated=job.layer.total,
        estimated_hidden=1 - exposed,
        estimated_gain=blocking / job.layer.total,
        step_time=job.estimate.total,
        left_out=job.left_out,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    step = (*_STEP, *no_range_assumptions(result.job.evidence))
    return {
        "timeline": partial(_timeline, result),
        **present.values("time", "exposed", "hidden", "gain", "estimated", "estimated_gain"),
        "step_time": present.value("step_time", assumes=step),
        **present.values("left_out"),
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
    rows = [
        (f"cut{pieces}", "blocking" if pieces == 1 else f"{pieces} pieces", cut.account.exposed)
        for pieces, cut in zip(_CUTS, result.cuts, strict=True)
    ]
    if result.estimated < result.blocking:
        rows.append(("estimate", "as measured", result.job.layer.tensor_parallel))
    high = 1.05 * result.blocking
    return Bars(
        title="One layer by number of pieces at best, and as runs were measured",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high),
        bars=tuple(_bar(key, label, result, exposed) for key, label, exposed in rows),
    )


def _bar(key: str, label: str, result: Result, exposed: Seconds) -> Bar:
    computing = result.blocking - result.job.blocking.tensor_parallel
    return Bar(
        key=key,
        label=label,
        segments=(
            Segment(key="compute", label="computation", value=computing, color="compute"),
            Segment(key="exposed", label="waiting", value=exposed, color="communication"),
        ),
    )
