"""Grouped products: how well experts use a GPU, by the tokens that each of them gets."""

from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated

from engine.catalog.measured_groups import GPU, MEASURED_GROUPS, SOURCE
from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text, say
from engine.core.units import COUNT, SHARE, Count, Seconds, Share
from engine.core.views import Citation, Line, Lines, Scale, Table
from engine.form.fields import OwnConstants
from engine.form.job_inputs import GPUS
from engine.simulate.layer.grouped_products import gpu_rates, grouped_time, plain_time, utilization

TITLE = "How well experts use a GPU"
QUESTION = "How many tokens does an expert need to be worth its GPU?"
HEADLINE = "grouped"
EQUATIONS = ()
PRESETS = {
    "256 experts on one GPU": {"num_local": 256, "tokens": 128},
    "Mixtral 8x7B, one expert per GPU": {"model": "mixtral-8x7b", "num_local": 1, "tokens": 8192},
}
_SPARSE = {key: model.name for key, model in MODELS.items() if model.num_experts}
_LOW, _HIGH = 16, 16_384
_TOKENS = tuple(2**i for i in range(4, 15))
_ASSUMES = ("First product of a gated expert, forward, in bf16; every expert gets as many tokens.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    tokens: Annotated[
        int,
        Number(label="Tokens per expert", low=_LOW, high=_HIGH, scale="log2", whole=True),
    ] = 256
    model: Annotated[str, Choice(label="Experts of", cites=False, options=_SPARSE)] = "deepseek-v3"
    num_local: Annotated[
        int, Number(label="Experts on the GPU", low=1, high=256, scale="log2", whole=True)
    ] = 32
    gpu: Annotated[str, Choice(label="GPU", options=GPUS)] = "B200"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Shares of peak of grouped and single products: curves, and the measured cases modeled."""

    grouped: Annotated[
        Share,
        Output(
            "Of the peak, grouped",
            note="{num_local} experts of {tokens} tokens",
            color="expert",
            assumes=_ASSUMES,
            sources=("simumax",),
        ),
    ]
    plain: Annotated[
        Share,
        Output(
            "As one product",
            note="a dense layer with all {rows} rows",
            color="compute",
            assumes=_ASSUMES,
        ),
    ]
    time: Annotated[
        Seconds,
        Output(
            "Time, grouped", note="{plain_time} as one product", color="expert", assumes=_ASSUMES
        ),
    ]
    plain_time: Seconds
    rows: Count
    grouped_curve: tuple[Share, ...]
    plain_curve: tuple[Share, ...]
    modelled: Lazy[tuple[Share, ...]]


def _shape(model: str) -> tuple[Count, Count]:
    """Return inner length and columns of an expert's first product, gate and up together."""
    config = MODELS[model]
    gates = 2 if config.mlp == "swiglu" else 1
    return config.hidden_size, gates * config.expert_ffn_hidden_size


def _peak_shares(inputs: Inputs, tokens: Count) -> tuple[Share, Share]:
    shape, rows = _shape(inputs.model), tokens * inputs.num_local
    rank = gpu_rates(inputs.gpu, inputs.own_constants)
    together = grouped_time(rank, tokens, shape, inputs.num_local)
    alone = plain_time(rank, rows, shape)
    return utilization(inputs.gpu, rows, shape, together), utilization(
        inputs.gpu, rows, shape, alone
    )


def solve(inputs: Inputs) -> Result:
    """Return shares of the peak and times."""
    shape, rows = _shape(inputs.model), inputs.tokens * inputs.num_local
    rank = gpu_rates(inputs.gpu, inputs.own_constants)
    now = _peak_shares(inputs, inputs.tokens)
    grouped, plain = zip(*(_peak_shares(inputs, tokens) for tokens in _TOKENS), strict=True)
    return Result(
        grouped=now[0],
        plain=now[1],
        time=grouped_time(rank, inputs.tokens, shape, inputs.num_local),
        plain_time=plain_time(rank, rows, shape),
        rows=rows,
        grouped_curve=grouped,
        plain_curve=plain,
        modelled=Lazy(_modeled_shares),
    )


@cache
def _modeled_shares() -> tuple[Share, ...]:
    return tuple(
        utilization(
            GPU,
            row.experts * row.rows,
            (row.inner, row.columns),
            grouped_time(gpu_rates(GPU), row.rows, (row.inner, row.columns), row.experts),
        )
        for row in MEASURED_GROUPS
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the shares, their curves and measured products."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("grouped", "plain", "time"),
        "curve": partial(_curve, present, inputs, result),
        "measured": partial(_measured, present, result),
    }


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    return present.curve(
        "Share of the peak, over the tokens per expert",
        over=Scale("tokens", "tokens per expert", _LOW, _HIGH, log=True),
        shows=Scale("grouped", "of the dense peak", 0.0, 1.0),
        x=_TOKENS,
        lines=(
            Line("grouped", "grouped", result.grouped_curve, "expert"),
            Line("plain", "dense", result.plain_curve, "compute", dashed=True),
        ),
        caption=present.say(
            "{num_local} experts: their weights are read from memory however few tokens come. "
            "Dense: one product with all rows."
        ),
    )


def _signed_share(share: Share) -> Text:
    sign = "+" if share >= 0 else "−"
    return say(f"{sign}{{d}}", d=(abs(share), SHARE))


def _measured(present: Presenter, result: Result) -> Table:
    rows = tuple(
        (
            present.say("{r}", r=(row.rows, COUNT)),
            present.say("{e}", e=(row.experts, COUNT)),
            present.say("{m}", m=(row.share, SHARE)),
            present.say("{p}", p=(modeled, SHARE)),
            _signed_share(modeled / row.share - 1),
            Citation((SOURCE,)),
        )
        for row, modeled in zip(MEASURED_GROUPS, result.modelled(), strict=True)
    )
    return Table(
        title="Measured on B200: experts of DeepSeek-V3, 32,768 rows in all",
        columns=("Tokens per expert", "Experts", "Measured", "Modeled", "Off by", "Source"),
        rows=rows,
        caption="First product of an expert, forward, in bf16, as a share of the dense peak. The "
        "model was fitted to a larger table that these rows belong to.",
    )
