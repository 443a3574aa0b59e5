"""A made-up diagnosis case: a step slower since last night, with four possible faults.

The job is that of the trace hunt: 1.5 billion parameters, plain data parallelism on 16 nodes of 8
H100. What an explanation predicts comes from the simulators: the step from its streams, the bus
bandwidth of groups of nodes from tests on their ports, losses from the way they are sent again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from engine.core.units import MICRO, Bandwidth, Bytes, Count, Ratio, Seconds, Share
from engine.formulas.retransmission import go_back_n_goodput, round_trip_packets
from engine.simulate.collectives.link_hunt import PORT_BANDWIDTH, FaultyCluster, run_tests
from engine.simulate.data_parallel import trace_hunt as job
from engine.simulate.programs import bucketed_data_parallel
from engine.simulate.streams.streams import run_program
from engine.simulate.streams.workload import Workload, ring_group

NODES: Count = 16
FAULTY_NODE = 11
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
_TOLERANCE: Ratio = 1e-6
_LARGEST_SLOW_DOWN: Ratio = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptoms:
    """Predicted or measured symptoms of a fault.

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


def healthy_symptoms() -> Symptoms:
    """Return the measurements of the job before the fault."""
    return _measure_symptoms(FaultyCluster(nodes=NODES))


@lru_cache(maxsize=32)
def symptoms(explanation: str, loss: Share) -> Symptoms:
    """Return the symptoms that a fault predicts; a lossy port loses `loss` of its packets.

    The slow GPU is as slow as it must be to make the step as long as the lossy port does.
    """
    return _SYMPTOMS[explanation](loss)


def _lossy_port(loss: Share) -> Symptoms:
    share = go_back_n_goodput(loss, round_trip_packets(PORT_BANDWIDTH, ROUND_TRIP, PACKET))
    cluster = FaultyCluster(nodes=NODES, ports=((FAULTY_NODE, share),))
    reached = run_tests(cluster, (tuple(range(NODES)),))[0].reached
    # Every packet that arrives as new is followed by so many gaps: lost over delivered.
    gaps = reached / PACKET * loss / (1 - loss)
    return _measure_symptoms(cluster, lost=gaps)


def _half_speed_port(_loss: Share) -> Symptoms:
    return _measure_symptoms(FaultyCluster(nodes=NODES, ports=((FAULTY_NODE, HALF),)))


def _spine_links_down(_loss: Share) -> Symptoms:
    return _measure_symptoms(FaultyCluster(nodes=NODES, uplinks=((1, NARROW),)))


def _slow_gpu(loss: Share) -> Symptoms:
    wanted = symptoms("loss", loss).step
    low, high = 1.0, _LARGEST_SLOW_DOWN
    while high - low > _TOLERANCE:
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if hunt_step_time(_healthy_bandwidth(), middle) < wanted
            else (low, middle)
        )
    return _measure_symptoms(FaultyCluster(nodes=NODES), slower=high)


_SYMPTOMS: Mapping[str, Callable[[Share], Symptoms]] = {
    "loss": _lossy_port,
    "half": _half_speed_port,
    "gpu": _slow_gpu,
    "spine": _spine_links_down,
}


@cache
def _healthy_bandwidth() -> Bandwidth:
    return run_tests(FaultyCluster(nodes=NODES), (tuple(range(NODES)),))[0].reached


def _measure_symptoms(
    cluster: FaultyCluster, *, lost: Ratio = 0.0, slower: Ratio = 1.0
) -> Symptoms:
    (everyone,) = run_tests(cluster, (tuple(range(NODES)),))
    others, suspects = run_tests(
        cluster, (tuple(range(NODES // 2)), tuple(range(NODES // 2, NODES)))
    )
    return Symptoms(
        step=hunt_step_time(everyone.reached, slower),
        everyone=everyone.reached,
        suspects=suspects.reached,
        others=others.reached,
        lost=lost,
        slower=slower,
    )


@lru_cache(maxsize=256)
def hunt_step_time(bandwidth: Bandwidth, slower: Ratio = 1.0) -> Seconds:
    """Return the step time of the job with ports that reach `bandwidth`.

    All ranks wait for the slowest, which computes `slower` times as long.
    """
    forward = (
        slower * 2 * job.PARAMETERS * job.TOKENS / (job.UTILIZATION * job.gpu_peak()) / job.LAYERS
    )
    work = Workload(
        layers=job.LAYERS,
        forward=forward,
        backward=2 * forward,
        parameters=job.PARAMETERS / job.LAYERS,
        data=ring_group(job.RANKS, bandwidth, job.LATENCY),
        tensors=job.TENSORS,
        slow_down=job.SLOW_DOWN,
        bucket=job.BUCKET,
    )
    return max(span.end for span in run_program(bucketed_data_parallel.program(work)))
