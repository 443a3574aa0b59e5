"""Packed documents: who has how much attention to compute, and who then waits for whom."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated, cast

from engine.calculators.splitting_the_model.document_packing.inputs import (
    CUTS,
    LENGTH,
    PACKINGS,
    Inputs,
)
from engine.catalog.models import MODELS
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Count, Ratio, Seconds, Share
from engine.formulas.amdahl import amdahl
from engine.run.machines import cluster_of
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.attention_masks import imbalance
from engine.simulate.layer.packing import Cut, Packed, Packing, arrived, balanced, rank_pairs
from engine.simulate.step.context_job import ContextJob, layer_without

# What a widely read text says balancing removes of context parallelism's latency.
CLAIMED: Share = 0.65
_TENSOR: Count = 8
_COUNTED = (
    "Pairs of query and key that the mask leaves; a token attends to its own document only.",
    "Lengths of documents are drawn from an exponential distribution, with a seed.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Who has how much, and what it costs; (cut, packing) -> the layer's time."""

    by_cut: Later[Mapping[tuple[str, str], Seconds]]
    packed: Packed
    work: tuple[tuple[Ratio, ...], ...]
    slowest: Count
    busiest: Annotated[
        Ratio,
        Told(
            "Busiest GPU, over the mean",
            note="of all replicas; {within} within its sequence, {between} between sequences",
            color="compute",
            basis="simulated",
            assumes=_COUNTED,
            sources=("wlb2025",),
        ),
    ]
    within: Ratio
    between: Ratio
    idle: Annotated[
        Share,
        Told(
            "Waiting share of the attention",
            note="of a GPU's time in it, on average",
            color="idle",
            basis="simulated",
            assumes=_COUNTED,
        ),
    ]
    layer: Annotated[
        Seconds,
        Told(
            "One layer, slowest GPU",
            note="forward and backward; {even} if all were even",
            color="compute",
            basis="simulated",
            assumes=(*_COUNTED, "TP 8 in nodes of eight H100; nothing of the exchange is counted."),
        ),
    ]
    even: Seconds
    gain: Annotated[
        Ratio,
        Told(
            "A step could be faster by",
            note="if every GPU had as many pairs",
            color="compute",
            basis="simulated",
            assumes=("All layers alike; what is outside the layers is left out.",),
        ),
    ]
    claimed: Annotated[
        Ratio,
        Told(
            "If 65 % of CP's time were saved",
            note="a step would be this much faster if CP takes {exposed} of it",
            color="ink",
            assumes=("The rest of the step stays as it is.",),
        ),
    ]


def _sequences(inputs: Inputs) -> Packed:
    found = arrived(
        inputs.replicas, LENGTH, inputs.mean_length, inputs.seed, long=inputs.long_document
    )
    return balanced(found) if cast(Packing, inputs.packing) == "balanced" else found


@lru_cache(maxsize=32)
def _layer(model: str, ranks: Count, own: str) -> tuple[Seconds, Seconds]:
    """Return a layer without its attention, and the attention of a full causal mask, even."""
    job = ContextJob(
        model=MODELS[model],
        cluster=cluster_of("dgx-h100", own),
        plan=Plan(
            world_size=_TENSOR * ranks,
            tensor_parallel=_TENSOR,
            context_parallel=ranks,
            sequence_parallel=True,
        ),
        training=Training(micro_batch_size=1, global_batch_size=1, sequence_length=LENGTH),
    )
    core = sum(job.core)
    return layer_without(job) - core, core


def solve(inputs: Inputs) -> Result:
    """Return the work of every GPU, and the layer's time."""
    ranks, packed = int(inputs.ranks), _sequences(inputs)
    pairs = [rank_pairs(cast(Cut, inputs.cut), ranks, one) for one in packed]
    whole = [sum(one) for one in pairs]
    mean = sum(whole) / len(whole) / ranks
    busy = [max(one) for one in pairs]
    slowest = max(range(len(busy)), key=lambda index: busy[index])
    rest, core = _layer(inputs.model, ranks, inputs.own_constants)
    full = LENGTH * (LENGTH + 1) / 2 / ranks
    layer, even = (rest + core * count / full for count in (busy[slowest], mean))
    return Result(
        by_cut=Later(partial(_by_cut, inputs)),
        packed=packed,
        work=tuple(tuple(count / mean for count in one) for one in pairs),
        slowest=slowest,
        busiest=busy[slowest] / mean,
        within=imbalance(pairs[slowest]),
        between=whole[slowest] / ranks / mean,
        idle=1 - mean / busy[slowest],
        layer=layer,
        even=even,
        gain=layer / even,
        claimed=amdahl(inputs.exposed, 1 / (1 - CLAIMED)),
    )


def _by_cut(inputs: Inputs) -> Mapping[tuple[str, str], Seconds]:
    return {
        (cut, packing): solve(replace(inputs, cut=cut, packing=packing)).layer
        for cut in CUTS
        for packing in PACKINGS
    }
