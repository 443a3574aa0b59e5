"""A made-up case: a step that is longer since last night, and four explanations of it.

The job is that of the trace hunt: 1.5 billion parameters, plain data parallelism on 16 nodes of 8
H100. What an explanation predicts comes from the simulators: the step from its streams, the bus
bandwidth of groups of nodes from tests on their ports, losses from the way they are sent again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from engine.core.units import MICRO, Bandwidth, Bytes, Count, Ratio, Seconds, Share
from engine.formulas.retransmission import go_back_n_goodput, round_trip_packets
from engine.simulate.collectives.link_hunt import PORT, Cluster, run_tests
from engine.simulate.data_parallel import trace_hunt as job
from engine.simulate.programs import bucketed_data_parallel
from engine.simulate.streams.streams import run
from engine.simulate.streams.workload import Workload, ring_wire

NODES: Count = 16
CULPRIT = 11
PACKET: Bytes = 4096.0
ROUND_TRIP: Seconds = 10 * MICRO
HALF: Ratio = 0.5
NARROW: Ratio = 0.25
EXPLANATIONS: Mapping[str, str] = {
    "loss": "a port that loses packets",
    "half": "a port at half of its speed",
    "gpu": "a slow GPU",
    "spine": "three of four links to the spines down",
}
_CLOSE: Ratio = 1e-6
_MOST_SLOWER: Ratio = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Signs:
    """What an explanation predicts, or what was measured.

    Attributes:
        step: of the job.
        everyone: bus bandwidth of one port of all nodes.
        suspects: of the half of the nodes with the culprit; `others`: of the other half.
        lost: packets that the receiver finds missing, per second of the test.
        slower: how much longer the slow rank computes than the others.
    """

    step: Seconds
    everyone: Bandwidth
    suspects: Bandwidth
    others: Bandwidth
    lost: Ratio
    slower: Ratio


def healthy() -> Signs:
    """Return the signs of the job before."""
    return _signs(Cluster(nodes=NODES))


@lru_cache(maxsize=32)
def signs(explanation: str, loss: Share) -> Signs:
    """Return what an explanation predicts; a lossy port loses `loss` of its packets.

    The slow GPU is as slow as it must be to make the step as long as the lossy port does.
    """
    return _OF[explanation](loss)


def _lossy(loss: Share) -> Signs:
    share = go_back_n_goodput(loss, round_trip_packets(PORT, ROUND_TRIP, PACKET))
    cluster = Cluster(nodes=NODES, ports=((CULPRIT, share),))
    reached = run_tests(cluster, (tuple(range(NODES)),))[0].reached
    # Every packet that arrives as new is followed by so many gaps: lost over delivered.
    found = reached / PACKET * loss / (1 - loss)
    return _signs(cluster, lost=found)


def _half(_loss: Share) -> Signs:
    return _signs(Cluster(nodes=NODES, ports=((CULPRIT, HALF),)))


def _spine(_loss: Share) -> Signs:
    return _signs(Cluster(nodes=NODES, uplinks=((1, NARROW),)))


def _gpu(loss: Share) -> Signs:
    wanted = signs("loss", loss).step
    low, high = 1.0, _MOST_SLOWER
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (middle, high) if step_time(_best(), middle) < wanted else (low, middle)
    return _signs(Cluster(nodes=NODES), slower=high)


_OF: Mapping[str, Callable[[Share], Signs]] = {
    "loss": _lossy,
    "half": _half,
    "gpu": _gpu,
    "spine": _spine,
}


@cache
def _best() -> Bandwidth:
    return run_tests(Cluster(nodes=NODES), (tuple(range(NODES)),))[0].reached


def _signs(cluster: Cluster, *, lost: Ratio = 0.0, slower: Ratio = 1.0) -> Signs:
    (everyone,) = run_tests(cluster, (tuple(range(NODES)),))
    others, suspects = run_tests(
        cluster, (tuple(range(NODES // 2)), tuple(range(NODES // 2, NODES)))
    )
    return Signs(
        step=step_time(everyone.reached, slower),
        everyone=everyone.reached,
        suspects=suspects.reached,
        others=others.reached,
        lost=lost,
        slower=slower,
    )


@lru_cache(maxsize=256)
def step_time(bandwidth: Bandwidth, slower: Ratio = 1.0) -> Seconds:
    """Return the step of the job over ports that reach `bandwidth`.

    All ranks wait for the slowest, which computes `slower` times as long.
    """
    forward = slower * 2 * job.PARAMETERS * job.TOKENS / (job.BUSY * job.peak()) / job.LAYERS
    work = Workload(
        layers=job.LAYERS,
        forward=forward,
        backward=2 * forward,
        parameters=job.PARAMETERS / job.LAYERS,
        data=ring_wire(job.RANKS, bandwidth, job.LATENCY),
        tensors=job.TENSORS,
        slow_down=job.SLOW_DOWN,
        bucket=job.BUCKET,
    )
    return max(span.end for span in run(bucketed_data_parallel.program(work)))
