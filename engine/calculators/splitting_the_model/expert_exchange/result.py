"""Results of the expert-exchange calculator."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.catalog.measured_exchanges import (
    COPIES,
    MEASURED_EXCHANGES,
    PER_NODE,
    MeasuredExchange,
)
from engine.catalog.models import MODELS, Model, num_sparse_layers
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bandwidth, Bytes, Count, Ratio, Seconds
from engine.form.fields import OwnConstants
from engine.formulas.expert_places import reached
from engine.formulas.experts import exchange_bytes, hot_rank_load
from engine.run.machines import cluster_of
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.device_model import RankGroup, RankRates, rank_group, rank_rates
from engine.simulate.layer.expert_exchange import TokenExchange, TokenRoutes, exchange_tokens
from engine.simulate.layer.product_time import GROUPED, layer_products

# Inputs of the expert-exchange calculator.

_MACHINES = ("h800", "dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "gb200-nvl72")
WIDTHS = {"fp8": 1.0, "bf16": 2.0}
SPARSE = {key: model.name for key, model in MODELS.items() if model.num_experts}
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[str, Choice(label="Model", cites=False, options=SPARSE)] = "deepseek-v3"
    machine: Annotated[
        str, Choice(label="Machine", options={key: NODES[key].name for key in _MACHINES})
    ] = "dgx-h100"
    expert_parallel: Annotated[
        int,
        Number(
            label="Ranks that share the experts",
            low=1,
            high=256,
            scale="log2",
            whole=True,
            symbol="r",
            help="Expert parallelism (EP). No more than there are experts.",
        ),
    ] = 64
    num_tokens: Annotated[
        int,
        Number(label="Tokens of a GPU", low=128, high=65_536, scale="log2", whole=True, symbol="T"),
    ] = 4096
    nodes_limit: Annotated[
        int,
        Number(
            label="Nodes of a token's experts, at most",
            low=0,
            high=16,
            whole=True,
            symbol="M",
            help="Node-limited routing; DeepSeek-V3 takes 4. 0: no limit.",
        ),
    ] = 4
    way: Annotated[
        str,
        Choice(
            label="Over the network travels",
            options={"nodes": "one copy per node (DeepEP)", "copies": "each copy (all-to-all)"},
        ),
    ] = "nodes"
    dispatch: Annotated[str, Choice(label="Out in", options={"fp8": "fp8", "bf16": "bf16"})] = "fp8"
    combine: Annotated[str, Choice(label="Back in", options={"fp8": "fp8", "bf16": "bf16"})] = (
        "bf16"
    )
    hot: Annotated[
        float,
        Number(
            label="Hot expert, over the mean",
            low=1.0,
            high=16.0,
            step=0.5,
            help="How many times the mean number of tokens choose it; 1: all alike.",
        ),
    ] = 1.0
    own_constants: OwnConstants = ""


# The configured token exchange, and the measured ones.

LIMITS = (1, 2, 3, 4, 6, 8, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Context of the exchange: model, rank and group, dispatch and combine."""

    model: Model
    rank: RankRates
    group: RankGroup
    out: TokenExchange
    back: TokenExchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Wires:
    """Rates on network and links behind a printed dispatch bandwidth, and the modeled rates."""

    row: MeasuredExchange
    network: Bandwidth
    links: Bandwidth
    port: Bandwidth
    link: Bandwidth


def ranks_of(inputs: Inputs) -> Count:
    """Return the expert-parallel degree, at most the number of experts."""
    return min(inputs.expert_parallel, MODELS[inputs.model].num_experts)


def job_of(inputs: Inputs) -> Job:
    """Return the exchange of a layer, forward."""
    model = MODELS[inputs.model]
    rank = rank_rates(cluster_of(inputs.machine, inputs.own_constants), _training(inputs))
    group = rank_group(rank, ranks_of(inputs), 1, "expert")
    routes = TokenRoutes(
        copies=model.experts_per_token, joined=inputs.way == "nodes", most=inputs.nodes_limit
    )
    out, back = (
        exchange_tokens(inputs.num_tokens, WIDTHS[width] * model.hidden_size, routes, rank, group)
        for width in (inputs.dispatch, inputs.combine)
    )
    return Job(model=model, rank=rank, group=group, out=out, back=back)


def _training(inputs: Inputs) -> Training:
    return Training(
        micro_batch_size=1,
        global_batch_size=256,
        sequence_length=inputs.num_tokens,
        precision="fp8" if inputs.dispatch == "fp8" else "bf16",
    )


def products_of(inputs: Inputs, job: Job) -> Seconds:
    """Return the time of the experts' products of a layer, forward, evenly used."""
    ranks = ranks_of(inputs)
    plan = Plan(world_size=ranks, expert_parallel=ranks)
    named = layer_products(job.model, plan, _training(inputs), job.rank, sparse=True).named
    return sum(named[name] for name in GROUPED)


def over_limits(inputs: Inputs) -> tuple[Bytes, ...]:
    """Return the bytes over the network with each of `LIMITS`, and then each copy by itself."""
    tried = [replace(inputs, nodes_limit=limit, way="nodes") for limit in LIMITS]
    jobs = map(job_of, (*tried, replace(inputs, nodes_limit=0, way="copies")))
    return tuple(job.out.across + job.back.across for job in jobs)


def measured() -> Iterator[Wires]:
    """Yield DeepEP's printed bandwidths on the wires of 64 H800.

    The kernel's time is the same on both: bytes over the network count a token once per node that
    it reaches, bytes over the links once per GPU.
    """
    job = job_of(Inputs(machine="h800", expert_parallel=64))
    for row in MEASURED_EXCHANGES:
        network, links = wires(row)
        yield Wires(row=row, network=network, links=links, port=job.rank.port, link=job.out.link)


def wires(row: MeasuredExchange) -> tuple[Bandwidth, Bandwidth]:
    """Return the network and link rates behind a printed dispatch bandwidth."""
    nodes = row.ranks // PER_NODE
    if nodes == 1:
        return 0.0, row.dispatch
    counted = reached(row.groups, COPIES)
    gpus = reached(PER_NODE * row.groups, COPIES)
    return row.dispatch * (nodes - 1) / nodes, row.dispatch * gpus / counted


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
