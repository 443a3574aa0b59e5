"""Results of the message waterfall: every number with its label, symbol and note."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bandwidth, Bytes, Count, Seconds, Share
from engine.form.message import HIGH, LARGE, LOW, PROTOCOLS, Inputs, at, path_of, published
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.message import break_even_size, effective_bandwidth, pcie_bytes
from engine.formulas.overlap import exposed_time
from engine.simulate.collectives.cluster_wires import cluster_wires
from engine.simulate.collectives.collective import collective_time
from engine.simulate.layer.device_model import RankRates, rank_group
from engine.simulate.network.message_path import (
    SENT_RATIO,
    MessageTiming,
    StageTransit,
    message_timings,
    stage_transits,
)
from engine.simulate.step.exposed_exchange import bucketed_wait
from engine.simulate.step.sharding_time import RankWeights, lengthened_pass

COLUMN = tuple(LOW * (HIGH / LOW) ** (i / 45) for i in range(46))
DRAWN = 8  # pieces at most in the picture of the pipeline
_SOURCES = ("kentino", "dewing", "p2pmark", "nccl_topo", "hu2025")
_GPU = ACCELERATORS["H100-SXM"]
_ABOUT = "{num_buckets} all-reduces of {message} over {world_size} GPUs, one per node."


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The results; `one` is the path of the message, `other` the path with (or without) copies.

    Attributes:
        theirs: the way of a published waterfall.
        by_size: ways of messages of `COLUMN`: the reader's, the published one's.
        passages: of at most `DRAWN` pieces through the stages.
        by_protocol: one way, of the message and of a large one.
    """

    one: MessageTiming
    other: MessageTiming
    theirs: MessageTiming
    by_size: Lazy[tuple[tuple[MessageTiming, ...], tuple[MessageTiming, ...]]]
    passages: Lazy[tuple[StageTransit, ...]]
    by_protocol: Mapping[str, tuple[Seconds, Seconds]]
    one_way: Annotated[
        Seconds,
        Output(
            "One way",
            "T",
            "{latency} of latencies, {moving} of bytes",
            "communication",
            assumes=("Stages without traffic of others; their latencies are those of the inputs.",),
            sources=_SOURCES,
        ),
    ]
    latency: Annotated[Seconds, Output(symbol="A")]
    moving: Seconds
    passing: Annotated[Seconds, Output(symbol="D")]
    pieces: Annotated[Count, Output(symbol="N", of="forwarding")]
    wire: Annotated[Bytes, Output(symbol="S", of="message")]
    slowest: Annotated[Bandwidth, Output(symbol="B", of="link")]
    pcie_share: Annotated[
        Share,
        Output(
            "Latency of PCIe",
            "q",
            "{pcie} of {one_way}",
            assumes=("Both crossings; their bytes flow while those of the wire do.",),
            sources=_SOURCES,
        ),
    ]
    pcie: Annotated[Seconds, Output(symbol="p", of="pcie_out")]
    published_share: Share
    break_even: Annotated[
        Bytes,
        Output(
            "Break-even size",
            "M",
            "below it latency decides, above it the slowest stage",
            assumes=(
                "From here on the bytes take longer at the slowest stage than all latencies.",
            ),
        ),
    ]
    data: Annotated[Share, Output(symbol="e", of="protocol")]
    effective: Annotated[
        Bandwidth,
        Output(
            "Effective bandwidth",
            "B",
            "{effective_share} of the port's line rate",
            assumes=("One message at a time; several in flight share the latencies.",),
        ),
    ]
    effective_share: Share
    large_rate: Bandwidth
    large_share: Share
    crossed: Annotated[
        Bytes,
        Output(
            "Bytes over PCIe",
            "V",
            assumes=("Data and flags; headers of packets are left out.",),
        ),
    ]
    crossings: Annotated[Count, Output(symbol="x", of="direct")]
    sent: Annotated[Bytes, Output(of="message")]
    saved: Annotated[
        Seconds,
        Output(
            "GPUDirect saves",
            "",
            "{saved_share} of the time without it",
            assumes=("{through} through the memory of the hosts, {past} past it.",),
            sources=("rocm3809", "p2pmark", "perftest241"),
        ),
    ]
    saved_share: Share
    through: Seconds
    past: Seconds
    wire_minimum: Annotated[
        Seconds,
        Output(
            "Wire minimum",
            "",
            "bytes over line rate",
            "communication",
            assumes=(_ABOUT, "What a ring sends, at the line rate, and nothing else."),
        ),
    ]
    isolated: Annotated[
        Seconds,
        Output(
            "Collectives alone",
            "Tm",
            "what a benchmark shows",
            "communication",
            assumes=(
                _ABOUT,
                "NCCL's latencies and protocols over InfiniBand, one after the other.",
            ),
            sources=("nccl_tuning",),
        ),
    ]
    exposed: Annotated[
        Seconds,
        Output(
            "Exposed in the step, a bound",
            "Te",
            "{composed} with contention, as the estimate counts it",
            "communication",
            assumes=(
                _ABOUT,
                "They start at even intervals of the backward pass, which is not slower for them: "
                "a bound.",
                "The estimate makes the pass longer by what the bytes take of an H100.",
            ),
        ),
    ]
    composed: Seconds
    sent_by_nccl: Annotated[
        Seconds,
        Output(
            "The same send by the estimate",
            note="as messages between pipeline stages are timed",
            color="communication",
            assumes=(
                "NCCL's send between two nodes, in the protocol for its size, by times fitted to "
                "measured curves; not from stages.",
            ),
            sources=("nccl_tuning", "nccl_tests"),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return the message on its way, and a collective of its size on the wire and in the step."""
    timing, other = at(inputs), at(inputs, direct=not inputs.direct)
    through, past = (other.time, timing.time) if inputs.direct else (timing.time, other.time)
    crossings = 2 if inputs.direct else 4
    sent = inputs.message * SENT_RATIO[inputs.protocol]
    data = inputs.message / timing.wire
    rate = effective_bandwidth(inputs.message, timing.time)
    large = effective_bandwidth(LARGE, at(inputs, message=LARGE).time)
    count, wires = inputs.num_buckets, cluster_wires(_GPU, inputs.world_size, 1, 1, inputs.link)
    alone = count * collective_time(wires.rank, wires.group, inputs.message)
    pair = rank_group(wires.rank, 2, 1)
    return Result(
        one=timing,
        other=other,
        theirs=at(published(message=inputs.message, link=inputs.link)),
        by_size=Lazy(
            lambda: (
                message_timings(path_of(inputs), COLUMN),
                message_timings(path_of(published(link=inputs.link)), COLUMN),
            )
        ),
        passages=Lazy(
            lambda: tuple(stage_transits(timing.stages, timing.wire, min(timing.pieces, DRAWN)))
        ),
        by_protocol={
            key: (
                at(inputs, protocol=key).time,
                at(inputs, protocol=key, message=LARGE).time,
            )
            for key in PROTOCOLS
        },
        one_way=timing.time,
        latency=timing.latency,
        moving=timing.moving,
        passing=timing.passing,
        pieces=timing.pieces,
        wire=timing.wire,
        slowest=timing.slowest,
        pcie_share=timing.pcie_share,
        pcie=timing.pcie,
        published_share=at(published()).bare_pcie_share,
        break_even=break_even_size(timing.latency, timing.slowest, data),
        data=data,
        effective=rate,
        effective_share=rate / inputs.link,
        large_rate=large,
        large_share=large / inputs.link,
        crossed=pcie_bytes(sent, crossings),
        crossings=crossings,
        sent=sent,
        saved=through - past,
        saved_share=(through - past) / through,
        through=through,
        past=past,
        wire_minimum=count * ring_bytes_sent(inputs.message, inputs.world_size) / inputs.link,
        isolated=alone,
        exposed=exposed_time(alone, inputs.backward, count),
        composed=_composed_wait(wires.rank, count * inputs.message, alone, inputs),
        sent_by_nccl=collective_time(wires.rank, pair, inputs.message, "send_receive"),
    )


def _composed_wait(rank: RankRates, moved: Bytes, alone: Seconds, inputs: Inputs) -> Seconds:
    """Return what a step of the estimate waits for these all-reduces, contention included."""
    weights = RankWeights(common=moved, experts=0.0)
    slower = lengthened_pass(rank, weights, (1.0, inputs.backward))
    return slower - inputs.backward + bucketed_wait(alone, inputs.num_buckets, slower)
