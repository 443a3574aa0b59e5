"""What a reader can change about an exchange of tokens, and what it sends."""

from dataclasses import dataclass, replace
from typing import Annotated

from engine.basis.inputs import Choice, Number
from engine.basis.told import Told
from engine.basis.units import Bytes, Count, Ratio, Seconds
from engine.catalog.models import MODELS, Model, num_sparse_layers
from engine.catalog.nodes import NODES
from engine.form.fields import OwnConstants
from engine.formulas.experts import exchange_bytes, hot_rank_load
from engine.run.machines import cluster_of
from engine.run.parallelism import Plan, Training
from engine.simulate.expert_exchange import Exchanged, Routes, exchanged
from engine.simulate.product_time import GROUPED, layer_products
from engine.simulate.rank import Group, Rank, group_of, rank_of

_MACHINES = ("h800", "dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "gb200-nvl72")
WIDTHS = {"fp8": 1.0, "bf16": 2.0}
SPARSE = {key: one.name for key, one in MODELS.items() if one.num_experts}
RANKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_EVEN = (
    "Experts evenly used except for the hot one; links and network work at the same time, and the "
    "slower one counts.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The exchange's surroundings: the model, the rank and its group, both ways."""

    model: Model
    rank: Rank
    group: Group
    out: Exchanged
    back: Exchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Bytes and times of one layer, forward."""

    job: Job
    ranks: Annotated[Count, Told(symbol="r", of="expert_parallel")]
    copies: Annotated[Count, Told(symbol="k", of="model")]
    hidden: Annotated[Count, Told(symbol="h", of="model")]
    out_width: Annotated[Bytes, Told(symbol="d", of="dispatch")]
    back_width: Annotated[Bytes, Told(symbol="c", of="combine")]
    token_out: Annotated[
        Bytes,
        Told(
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
        Told(
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
        Told(
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
        Told(
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
        Told(
            "Load of the hottest rank",
            note="over the mean",
            color="expert",
            assumes=("The other experts of that rank are chosen as often as all others.",),
        ),
    ]
    products: Annotated[
        Seconds,
        Told(
            "Products of the experts",
            note="of that layer, forward, on the hottest rank",
            color="compute",
            assumes=("Grouped products, fp8 where tokens travel out in fp8.",),
            sources=("simumax",),
        ),
    ]
    ratio: Annotated[
        Ratio,
        Told(
            "Exchange over products",
            note="above 1, products alone cannot hide it",
            assumes=("Shared experts and attention can hide more; they are not counted.",),
        ),
    ]
    step: Annotated[
        Seconds,
        Told(
            "All layers, forward and backward",
            note="{layers} layers with experts, nothing hidden",
            color="communication",
            assumes=("The backward pass sends gradients the same two ways, both in bf16.",),
        ),
    ]
    layers: Count


def ranks_of(inputs: Inputs) -> Count:
    """Return the ranks that share the experts: as asked, or as many as there are experts."""
    return min(inputs.expert_parallel, MODELS[inputs.model].num_experts)


def job_of(inputs: Inputs) -> Job:
    """Return the exchange of a layer, forward."""
    model = MODELS[inputs.model]
    rank = rank_of(cluster_of(inputs.machine, inputs.own_constants), _training(inputs))
    group = group_of(rank, ranks_of(inputs), 1, "expert")
    routes = Routes(
        copies=model.experts_per_token, joined=inputs.way == "nodes", most=inputs.nodes_limit
    )
    out, back = (
        exchanged(inputs.num_tokens, WIDTHS[width] * model.hidden_size, routes, rank, group)
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


def _products(inputs: Inputs, job: Job) -> Seconds:
    """Return the time of the experts' products of a layer, forward, evenly used."""
    ranks = ranks_of(inputs)
    plan = Plan(world_size=ranks, expert_parallel=ranks)
    named = layer_products(job.model, plan, _training(inputs), job.rank, sparse=True).named
    return sum(named[name] for name in GROUPED)


def solve(inputs: Inputs) -> Result:
    """Return bytes and times."""
    job, ranks, tokens = job_of(inputs), ranks_of(inputs), inputs.num_tokens
    model, widths = job.model, (WIDTHS[inputs.dispatch], WIDTHS[inputs.combine])
    copies, hidden = model.experts_per_token, model.hidden_size
    load = hot_rank_load(min(inputs.hot, model.num_experts), model.num_experts, ranks)
    even = job.out.time + job.back.time
    products = load * _products(inputs, job)
    in_half = job_of(replace(inputs, dispatch="bf16", combine="bf16"))
    layers = num_sparse_layers(model)
    return Result(
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
