"""Results of the expert-exchange calculator."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.calculators.splitting_the_model.expert_exchange.inputs import RANKS, WIDTHS, Inputs
from engine.calculators.splitting_the_model.expert_exchange.job import (
    Job,
    Wires,
    job_of,
    measured,
    over_limits,
    products_of,
    ranks_of,
)
from engine.catalog.models import num_sparse_layers
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bytes, Count, Ratio, Seconds
from engine.formulas.experts import exchange_bytes, hot_rank_load

_EVEN = (
    "Experts evenly used except for the hot one; links and network work at the same time, and the "
    "slower one counts.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Bytes and times of a layer, forward.

    Attributes:
        over_ranks: the same for all of `RANKS` that there are experts for.
        over_limits: bytes over the network, as `LIMITS` are, and each copy by itself.
    """

    over_ranks: Lazy[tuple["Result", ...]]
    over_limits: Lazy[tuple[Bytes, ...]]
    measured: Lazy[tuple[Wires, ...]]
    job: Job
    ranks: Annotated[Count, Output(symbol="r", of="expert_parallel")]
    copies: Annotated[Count, Output(symbol="k", of="model")]
    hidden: Annotated[Count, Output(symbol="h", of="model")]
    out_width: Annotated[Bytes, Output(symbol="d", of="dispatch")]
    back_width: Annotated[Bytes, Output(symbol="c", of="combine")]
    token_out: Annotated[
        Bytes,
        Output(
            "A token's copies, out",
            note="{token_back} back",
            color="communication",
            assumes=("All copies, including those for experts of its own rank.",),
            sources=("deepseek2024",),
        ),
    ]
    token_back: Bytes
    sent: Annotated[
        Bytes,
        Output(
            "Out and back, per GPU and layer",
            "S",
            "{across} over the network",
            "communication",
            assumes=("Experts evenly used.",),
        ),
    ]
    across: Bytes
    claimed: Annotated[
        Bytes,
        Output(
            "A published formula",
            note="2 x tokens x hidden size, in 16 bits",
            color="muted",
            assumes=(
                "One copy of each token there and one back. A token goes to several experts, so "
                "their number is missing.",
            ),
            sources=("vizuara_guides",),
        ),
    ]
    time: Annotated[
        Seconds,
        Output(
            "Out and back",
            note="{links} on the links, {network} on the network",
            color="communication",
            assumes=_EVEN,
            sources=("deepep",),
        ),
    ]
    links: Seconds
    network: Seconds
    even: Seconds
    load: Annotated[
        Ratio,
        Output(
            "Load of the hottest rank",
            note="over the mean",
            color="expert",
            assumes=("The other experts of that rank are chosen as often as all others.",),
        ),
    ]
    products: Annotated[
        Seconds,
        Output(
            "Products of the experts",
            note="of that layer, forward, on the hottest rank",
            color="compute",
            assumes=("Grouped products, fp8 where tokens travel out in fp8.",),
            sources=("simumax",),
        ),
    ]
    ratio: Annotated[
        Ratio,
        Output(
            "Exchange over products",
            note="above 1, products alone cannot hide it",
            assumes=("Shared experts and attention can hide more; they are not counted.",),
        ),
    ]
    step: Annotated[
        Seconds,
        Output(
            "All layers, forward and backward",
            note="{layers} layers with experts, nothing hidden",
            color="communication",
            assumes=("The backward pass sends gradients the same two ways, both in bf16.",),
        ),
    ]
    layers: Count


def solve(inputs: Inputs) -> Result:
    """Return bytes and times."""
    job, ranks, tokens = job_of(inputs), ranks_of(inputs), inputs.num_tokens
    model, widths = job.model, (WIDTHS[inputs.dispatch], WIDTHS[inputs.combine])
    copies, hidden = model.experts_per_token, model.hidden_size
    load = hot_rank_load(min(inputs.hot, model.num_experts), model.num_experts, ranks)
    even = job.out.time + job.back.time
    products = load * products_of(inputs, job)
    in_half = job_of(replace(inputs, dispatch="bf16", combine="bf16"))
    layers = num_sparse_layers(model)
    return Result(
        over_ranks=Lazy(partial(_over_ranks, inputs, model.num_experts)),
        over_limits=Lazy(partial(over_limits, inputs)),
        measured=Lazy(lambda: tuple(measured())),
        job=job,
        ranks=ranks,
        copies=copies,
        hidden=hidden,
        out_width=widths[0],
        back_width=widths[1],
        token_out=copies * hidden * widths[0],
        token_back=copies * hidden * widths[1],
        sent=sum(exchange_bytes(tokens, copies, hidden * width, ranks) for width in widths),
        across=job.out.across + job.back.across,
        claimed=2 * tokens * hidden * WIDTHS["bf16"],
        time=load * even,
        links=load * (job.out.inside_time + job.back.inside_time),
        network=load * (job.out.across_time + job.back.across_time),
        even=even,
        load=load,
        products=products,
        ratio=load * even / products,
        step=load * layers * (even + in_half.out.time + in_half.back.time),
        layers=layers,
    )


def _over_ranks(inputs: Inputs, most: Count) -> tuple[Result, ...]:
    ranks = (count for count in RANKS if count <= most)
    return tuple(solve(replace(inputs, expert_parallel=count)) for count in ranks)
