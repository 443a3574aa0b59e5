"""Critical tokens: how much work a GPU needs so that fully sharded training hides its gathers."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.hardware import GPUS
from engine.core.inputs import GBITS, PERCENT, Choice, Number
from engine.core.outputs import Output, Presenter, Symbol, Views
from engine.core.units import FLOP_RATE, RATIO, Bandwidth, Bytes, Gbit, Ratio, Tokens, with_digits
from engine.core.views import Badge, Heatmap, Line, Lines, Point, Published, Rule, Scale
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.lab import LabGradients
from engine.formulas.critical_tokens import CRITICAL_TOKENS, critical_tokens
from engine.run.software import GRADIENT_BYTES
from engine.simulate.data_parallel.hiding_tokens import GatheringJob, tokens_that_hide_gathers

TITLE = "Critical tokens"
QUESTION = "How many tokens per GPU does ZeRO-3 need to hide its communication?"
HEADLINE = "composed"
EQUATIONS = (CRITICAL_TOKENS,)
PRESETS = {
    "One port of 100 Gb/s per node": {"port": 100 * Gbit, "ports": "1"},
    "Eight ports of 100 Gb/s": {"port": 100 * Gbit},
    "One port of 400 Gb/s": {"ports": "1"},
    "At 40 % MFU": {"utilization": 0.4},
    "Gradients in bf16": {"gradients": "bf16"},
}
# Whose estimate stands beside the bound.
_MODEL, _RANKS = "llama-3-8b", 64
_COUNTS = (1, 2, 4, 8, 16)
_SPEEDS = (25, 50, 100, 200, 400, 800, 1600)
_LINE = tuple(25 * Gbit * 2 ** (i / 4) for i in range(25))
_COLORS = {1: "communication", 2: "buffers", 4: "optimizer", 8: "compute", 16: "parameters"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    port: Annotated[
        float,
        Number(
            label="Network port",
            unit=GBITS,
            low=25 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="Line rate, one way.",
        ),
        Symbol("B"),
    ] = 400 * Gbit
    ports: Annotated[
        str, Choice(label="Ports of a node", options={str(n): str(n) for n in _COUNTS})
    ] = "8"
    tokens: Annotated[
        int,
        Number(
            label="Your tokens per GPU",
            low=256,
            high=262_144,
            scale="log",
            whole=True,
            help="In one micro-batch.",
        ),
    ] = 8192
    utilization: Annotated[
        float,
        Number(
            label="MFU while computing",
            unit=PERCENT,
            low=0.1,
            high=1.0,
            step=0.01,
            help="Of the dense bf16 peak, with two operations per parameter and token forward and "
            "four backward (6N, no attention). 100 %: the published bound. A real GPU computes "
            "longer, so it needs fewer.",
        ),
        Symbol("u"),
    ] = 1.0
    gradients: LabGradients = "fp32"
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The bound; by ports of a node, `lines` of bounds and `ratios` to them of the map."""

    critical: Annotated[
        Tokens,
        Output(
            "Bound: critical tokens per GPU",
            "t",
            "from here on the step computes longer than it communicates",
            "compute",
            assumes=(
                "Parameters gathered in bf16, sharded over all GPUs of more than one node.",
                "The backward pass decides: a gather and a reduction beside four operations per "
                "parameter and token. F/W for gradients in 16 bits, 1.5F/W in fp32; the forward "
                "pass needs F/W.",
                "Everything overlaps; attention scores are left out.",
            ),
            sources=("scaling_book",),
        ),
    ]
    composed: Annotated[
        Tokens,
        Output(
            "By the estimate",
            note="Llama 3 8B on {ranks} GPUs waits for no unit's gather from here on",
            color="compute",
            assumes=(
                "The least tokens of a micro-batch of which every unit's passes take as long as "
                "its collectives, in PyTorch's FSDP: kernels below the peak, ports below line "
                "rate, a latency for each collective, contention. MFU is not typed here.",
                "Sequences of at most 4,096 tokens.",
            ),
            sources=("zhao2023",),
        ),
    ]
    ranks: int
    gradient: Annotated[Bytes, Output(symbol="b", of="gradients")]
    ratio: Annotated[
        Ratio,
        Output(
            "Computation over communication",
            "",
            "with your tokens",
            assumes=("Your tokens over the critical ones.",),
        ),
    ]
    peak: Annotated[
        float,
        FLOP_RATE,
        Output(
            "Peak of the GPU",
            "F",
            "dense, bf16",
            "compute",
            assumes=("As its maker prints it.",),
            basis="datasheet",
            of="gpu",
        ),
    ]
    num_ports: Annotated[int, Output(symbol="k", of="ports")]
    lines: tuple[tuple[Tokens, ...], ...]
    ratios: tuple[tuple[Ratio, ...], ...]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    peak = GPUS[inputs.gpu].peak["bf16"]
    gradient = GRADIENT_BYTES[inputs.gradients]

    def tokens(count: int, port: Bandwidth) -> Tokens:
        return critical_tokens(inputs.utilization, peak, count, port, gradient)

    bound = tokens(int(inputs.ports), inputs.port)
    job = GatheringJob(
        model=_MODEL,
        gpu=inputs.gpu,
        ranks=_RANKS,
        ports=int(inputs.ports),
        port=inputs.port,
        gradient=inputs.gradients,
        own_constants=inputs.own_constants,
    )
    return Result(
        critical=bound,
        composed=tokens_that_hide_gathers(job),
        ranks=_RANKS,
        gradient=gradient,
        ratio=inputs.tokens / bound,
        peak=peak,
        num_ports=int(inputs.ports),
        lines=tuple(tuple(tokens(count, port) for port in _LINE) for count in _COUNTS),
        ratios=tuple(
            tuple(inputs.tokens / tokens(count, speed * Gbit) for speed in _SPEEDS)
            for count in _COUNTS
        ),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    claim = Published(
        text="a published page: on a 100G link, ZeRO-3 is unusable",
        reason="It depends on the tokens per GPU, which the page does not give.",
        source="pingdo_pipeline",
        claim="E4.20",
    )
    return {
        "curve": partial(_curve, present, inputs, result),
        "critical": present.value("critical", published=claim),
        "composed": present.value("composed"),
        "regime": _regime(present, inputs, result),
        **present.values("ratio", "peak"),
        "map": partial(_map, present, inputs, result),
    }


def _regime(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    enough = inputs.tokens >= result.composed
    if enough != (result.ratio >= 1):
        # The estimate decides; the bound knows neither kernels nor latencies.
        return Badge(
            text="Hidden, by the estimate" if enough else "Exposed, by the estimate",
            sentence=present.say(
                "{tokens} tokens per GPU are {ratio} the bound, but by the estimate {composed} "
                "hide the gathers."
            ),
            color="compute" if enough else "communication",
        )
    if enough:
        return Badge(
            text="Compute-bound",
            sentence=present.say(
                "{tokens} tokens per GPU are {ratio} the bound: the gathers can hide."
            ),
            color="compute",
        )
    return Badge(
        text="Network-bound",
        sentence=present.say(
            "{tokens} tokens per GPU are {ratio} the bound: the step waits for gathers."
        ),
        color="communication",
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    high, low = result.lines[0][0], result.lines[-1][-1]
    yours = Rule(
        key="yours",
        label="yours",
        axis="y",
        at=float(inputs.tokens),
        color="compute" if result.ratio >= 1 else "communication",
    )
    return present.curve(
        "Critical tokens per GPU against the speed of a port",
        over=Scale("port", "port, one way", 25 * Gbit, 1600 * Gbit, log=True),
        shows=Scale("critical", "tokens per GPU", low / 1.5, high * 1.5, log=True),
        x=_LINE,
        lines=(
            Line(
                f"ports{count}",
                f"{count} port" if count == 1 else f"{count} ports",
                line,
                _COLORS[count],
                dashed=str(count) != inputs.ports,
            )
            for count, line in zip(_COUNTS, result.lines, strict=True)
        ),
        rules=(yours,),
        caption="Both axes are logarithmic. By the bound, a node is compute-bound above its line "
        "and network-bound below it.",
    )


def _map(present: Presenter, inputs: Inputs, result: Result) -> Heatmap:
    """Return computation over communication at the reader's tokens, for all networks."""
    return Heatmap(
        title="Computation over communication, with your tokens",
        x_label="port, Gb/s",
        y_label="ports of a node",
        x=tuple(f"{speed:,}" for speed in _SPEEDS),
        y=tuple(str(count) for count in _COUNTS),
        values=result.ratios,
        quantity=with_digits(RATIO, 2),
        points=(
            Point(
                key="own",
                label=present.say("framed: you, {ratio}"),
                x=math.log2(inputs.port / (_SPEEDS[0] * Gbit)),
                y=math.log2(int(inputs.ports) / _COUNTS[0]),
                color="ink",
            ),
        ),
        caption="One or more: compute-bound. Less than one: the step waits for the network. The "
        "frame marks your network, between two cells where its speed is none of the columns.",
    )
