"""A published run at tensor-parallel degrees 2 to 32, measured and modeled."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.catalog.tensor_scaling import TENSOR_RUNS
from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, RATIO, SHARE, TOKEN_RATE, Count, Ratio, Share, TokenRate
from engine.core.views import Axis, Lines, Rule, Series, Table
from engine.run.parallelism import Framework, Transport
from engine.simulate.step.tensor_scaling import model_tensor_run, modeled_token_rates, speed_loss

TITLE = "Tensor parallelism over 2 to 32 GPUs, measured"
QUESTION = "How much does a GPU lose when tensor parallelism leaves its node?"
HEADLINE = "measured_loss"
PRESETS = {"InfiniBand": {"transport": "infiniband"}, "As PyTorch FSDP": {"framework": "fsdp"}}
_MODELED = (
    "Nodes of 8 H100 with 8 ports of 400 Gb/s; one micro-batch of the size that was measured.",
    "The benchmark's software is none of the families that the model knows.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    transport: Annotated[
        str,
        Choice(label="Network", options={"efa-v2": "EFA of a P5 node", "infiniband": "InfiniBand"}),
    ] = "efa-v2"
    framework: Annotated[
        str,
        Choice(
            label="Modeled as",
            options={"megatron": "Megatron, eager kernels", "fsdp": "PyTorch FSDP, eager kernels"},
        ),
    ] = "megatron"


def _rate_output(label: str, note: str, basis: str, assumes: tuple[str, ...] = ()) -> Output:
    return Output(label, "", note, "communication", assumes, ("tazi2025",), basis)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The runs as measured and as modeled."""

    ranks: tuple[Count, ...]
    measured: tuple[TokenRate, ...]
    modelled: tuple[TokenRate, ...]
    ratios: tuple[Ratio, ...]
    measured_loss: Annotated[
        Share,
        _rate_output("Lost from 8 to 16 GPUs, measured", "of the tokens of a GPU", "measured"),
    ]
    modelled_loss: Annotated[
        Share,
        _rate_output(
            "Lost from 8 to 16 GPUs, modeled", "of the tokens of a GPU", "modelled", _MODELED
        ),
    ]
    joined_loss: Annotated[
        Share,
        _rate_output(
            "Modeled, if NVLink joined all 16",
            "lost from 8 to 16 GPUs",
            "modelled",
            ("The same 16 GPUs in one NVLink domain.",),
        ),
    ]
    measured_further: Annotated[
        Share,
        _rate_output("Lost from 16 to 32 GPUs, measured", "of the tokens of a GPU", "measured"),
    ]
    modelled_further: Annotated[
        Share,
        _rate_output(
            "Lost from 16 to 32 GPUs, modeled", "of the tokens of a GPU", "modelled", _MODELED
        ),
    ]
    worst: Annotated[
        Share,
        _rate_output("Largest error of the model", "of the five runs", "modelled", _MODELED),
    ]
    ratio_8: Annotated[
        Ratio,
        _rate_output(
            "Communication over computation, 8 GPUs", "nothing hidden", "modelled", _MODELED
        ),
    ]
    ratio_16: Annotated[
        Ratio,
        _rate_output(
            "Communication over computation, 16 GPUs", "nothing hidden", "modelled", _MODELED
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the runs."""
    transport, framework = cast(Transport, inputs.transport), cast(Framework, inputs.framework)
    ranks = tuple(run.ranks for run in TENSOR_RUNS)
    measured = tuple(run.rate for run in TENSOR_RUNS)
    modelled = modeled_token_rates(transport, framework)
    ratios = tuple(
        model_tensor_run(run, transport, framework).tensor_over_computation for run in TENSOR_RUNS
    )
    eight, sixteen, most = (ranks.index(n) for n in (8, 16, 32))
    joined = model_tensor_run(TENSOR_RUNS[sixteen], transport, framework, gpus_per_node=16)
    return Result(
        ranks=ranks,
        measured=measured,
        modelled=modelled,
        ratios=ratios,
        measured_loss=speed_loss(measured[eight], measured[sixteen]),
        modelled_loss=speed_loss(modelled[eight], modelled[sixteen]),
        joined_loss=speed_loss(modelled[eight], joined.token_rate),
        measured_further=speed_loss(measured[sixteen], measured[most]),
        modelled_further=speed_loss(modelled[sixteen], modelled[most]),
        worst=max(abs(a / b - 1) for a, b in zip(modelled, measured, strict=True)),
        ratio_8=ratios[eight],
        ratio_16=ratios[sixteen],
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    losses = ("measured_loss", "modelled_loss", "joined_loss")
    further = ("measured_further", "modelled_further", "worst", "ratio_8", "ratio_16")
    return {
        "curve": partial(_curve, result),
        **present.values(*losses, *further),
        "table": partial(_table, result),
    }


def _curve(result: Result) -> Lines:
    xs = tuple(float(n) for n in result.ranks)
    high = 1.08 * max(*result.measured, *result.modelled)
    return Lines(
        title="Tokens per second per GPU",
        x=Axis(label="tensor parallel ranks", quantity=COUNT, low=2, high=32, scale="log"),
        y=Axis(label="tokens per second per GPU", quantity=TOKEN_RATE, low=0.0, high=high),
        series=(
            Series(key="measured", label="measured", x=xs, y=result.measured, color="ink"),
            Series(
                key="modelled",
                label="modeled",
                x=xs,
                y=result.modelled,
                color="communication",
                dashed=True,
            ),
        ),
        rules=(Rule(key="node", label="one node", axis="x", at=8.0, color="muted"),),
        caption="A Llama of 3.57 billion parameters, 4,096 tokens, as many sequences in a "
        "micro-batch as fit on each number of GPUs.",
    )


def _table(result: Result) -> Table:
    rows = []
    for run, modelled, ratio in zip(TENSOR_RUNS, result.modelled, result.ratios, strict=True):
        off = modelled / run.rate - 1
        sign = "+" if off >= 0 else "−"
        rows.append(
            (
                say("{n}", n=(run.ranks, COUNT)),
                say("{n}", n=(run.micro_batch_size, COUNT)),
                say("{r}", r=(run.rate, TOKEN_RATE)),
                say("{r}", r=(modelled, TOKEN_RATE)),
                say(f"{sign}{{o}}", o=(abs(off), SHARE)),
                say("{r}", r=(ratio, RATIO)),
            )
        )
    return Table(
        title="Measured beside modeled",
        columns=(
            "GPUs",
            "Sequences",
            "Measured, per GPU",
            "Modeled",
            "Off by",
            "Communication over computation",
        ),
        rows=tuple(rows),
    )
