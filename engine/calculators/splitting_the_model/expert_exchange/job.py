"""The configured token exchange, and the measured ones."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.calculators.splitting_the_model.expert_exchange.inputs import WIDTHS, Inputs
from engine.catalog.measured_exchanges import (
    COPIES,
    MEASURED_EXCHANGES,
    PER_NODE,
    MeasuredExchange,
)
from engine.catalog.models import MODELS, Model
from engine.core.units import Bandwidth, Bytes, Count, Seconds
from engine.formulas.expert_places import reached
from engine.run.machines import cluster_of
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.device_model import RankGroup, RankRates, rank_group, rank_rates
from engine.simulate.layer.expert_exchange import TokenExchange, TokenRoutes, exchange_tokens
from engine.simulate.layer.product_time import GROUPED, layer_products

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
