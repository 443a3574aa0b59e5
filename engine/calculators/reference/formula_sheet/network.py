"""Numbers for the equations on communication: files communication, bandwidth, hierarchy, ..."""

from collections.abc import Callable, Mapping

from engine.calculators.reference.formula_sheet.example import Example, Shown, buffer, ranks
from engine.calculators.reference.formula_sheet.inputs import Inputs
from engine.catalog.hardware import MEASURED
from engine.catalog.transports import LAUNCH, NVLINK
from engine.core.units import BANDWIDTH, BYTES, COUNT, RATIO, SECONDS, Bytes, Seconds
from engine.formulas import bandwidth, communication, hierarchy, ring_time

_RING = {"B": "port", "a": "latency"}
_NODES = {"g": "gpus_per_node", "m": "num_nodes"}


def _wire(x: Inputs) -> Shown:
    """Return what every collective on the network needs; each equation takes its part of it."""
    return {
        "n": (float(ranks(x)), COUNT),
        "S": (buffer(x), BYTES),
        "B": (x.port, BANDWIDTH),
        "a": (x.latency, SECONDS),
    }


def _collective(title: str, function: Callable[[Bytes, int, float, float], Seconds]) -> Example:
    """A time of a buffer on all GPUs."""

    def symbols(x: Inputs) -> Shown:
        time = function(buffer(x), ranks(x), x.port, x.latency)
        return {"T": (time, SECONDS), **_wire(x)}

    return Example(title=title, function=function, symbols=symbols, inputs=_RING)


def _sent(title: str, function: Callable[[Bytes, int], Bytes]) -> Example:
    """Bytes sent by the busiest of all GPUs."""

    def symbols(x: Inputs) -> Shown:
        wire = _wire(x)
        return {"V": (function(buffer(x), ranks(x)), BYTES), "n": wire["n"], "S": wire["S"]}

    return Example(title=title, function=function, symbols=symbols)


def _message(x: Inputs) -> Shown:
    time = communication.point_to_point_time(buffer(x), x.port, x.latency)
    wire = _wire(x)
    return {"T": (time, SECONDS), "a": wire["a"], "S": wire["S"], "B": wire["B"]}


def _hierarchical(x: Inputs) -> Shown:
    ports = hierarchy.node_bandwidth(x.port, x.gpus_per_node)
    time = hierarchy.hierarchical_all_reduce_time(
        buffer(x),
        x.gpus_per_node,
        x.num_nodes,
        x.scale_up,
        x.scale_up_latency,
        ports,
        x.latency,
    )
    return {
        "T": (time, SECONDS),
        "g": (x.gpus_per_node, COUNT),
        "S": (buffer(x), BYTES),
        "Bu": (x.scale_up, BANDWIDTH),
        "au": (x.scale_up_latency, SECONDS),
        "m": (x.num_nodes, COUNT),
        "Bo": (ports, BANDWIDTH),
        "ao": (x.latency, SECONDS),
    }


def _hierarchical_bytes(x: Inputs) -> Shown:
    sent = hierarchy.hierarchical_bytes_sent(buffer(x), x.gpus_per_node, x.num_nodes)
    return {
        "V": (sent, BYTES),
        "m": (x.num_nodes, COUNT),
        "S": (buffer(x), BYTES),
        "g": (x.gpus_per_node, COUNT),
    }


def _ring_time(x: Inputs) -> Seconds:
    return communication.ring_all_reduce_time(buffer(x), ranks(x), x.port, x.latency)


def _algorithm_bandwidth(x: Inputs) -> Shown:
    time = _ring_time(x)
    found = bandwidth.algorithm_bandwidth(buffer(x), time)
    return {"Ba": (found, BANDWIDTH), "S": (buffer(x), BYTES), "T": (time, SECONDS)}


def _bus_bandwidth(x: Inputs) -> Shown:
    time = _ring_time(x)
    found = bandwidth.bus_bandwidth(buffer(x), time, "all_reduce", ranks(x))
    factor = bandwidth.bus_bandwidth_factor("all_reduce", ranks(x))
    return {
        "Bb": (found, BANDWIDTH),
        "f": (factor, RATIO),
        "S": (buffer(x), BYTES),
        "T": (time, SECONDS),
    }


def _crossover(x: Inputs) -> Shown:
    size = bandwidth.ring_tree_crossover_size(ranks(x), x.port, x.latency)
    wire = _wire(x)
    return {"Sc": (size, BYTES), "n": wire["n"], "a": wire["a"], "B": wire["B"]}


def _half_size(x: Inputs) -> Shown:
    size = bandwidth.half_bandwidth_size(x.port, x.latency)
    wire = _wire(x)
    return {"Sh": (size, BYTES), "a": wire["a"], "B": wire["B"]}


def _fit(x: Inputs) -> Shown:
    # Two messages as a benchmark would time them: the size at half of the bandwidth, and a
    # hundred times that. Both parts of the time then have digits enough to be told apart.
    first = bandwidth.half_bandwidth_size(x.port, x.latency)
    second = 100 * first
    times = [communication.point_to_point_time(s, x.port, x.latency) for s in (first, second)]
    found = bandwidth.fit_two_points(first, times[0], second, times[1])
    return {
        "B": (found.bandwidth, BANDWIDTH),
        "S2": (second, BYTES),
        "Sa": (first, BYTES),
        "T2": (times[1], SECONDS),
        "Ta": (times[0], SECONDS),
        "a": (found.latency, SECONDS),
        "Sh": (found.half_size, BYTES),
    }


def _ramped(x: Inputs) -> Shown:
    reached = MEASURED["h200_ring"].bus_bandwidth
    time = ring_time.ring_all_reduce_ramped_time(buffer(x), x.gpus_per_node, 1, reached)
    return {
        "T": (time, SECONDS),
        "To": (LAUNCH + NVLINK.start, SECONDS),
        "a": (NVLINK.step, SECONDS),
        "n": (x.gpus_per_node, COUNT),
        "S": (buffer(x), BYTES),
        "B": (reached, BANDWIDTH),
        "Sr": (NVLINK.ramp, BYTES),
        "Ss": (NVLINK.scale, BYTES),
    }


# By the name of the equation.
EXAMPLES: Mapping[str, Example] = {
    "point_to_point_time": Example(
        title="One message",
        function=communication.point_to_point_time,
        symbols=_message,
        inputs=_RING,
    ),
    "ring_all_reduce_time": _collective("Ring all-reduce", communication.ring_all_reduce_time),
    "ring_bytes_sent": _sent("Bytes sent in a ring", communication.ring_bytes_sent),
    "ring_half_time": _collective(
        "Ring reduce-scatter, ring all-gather", communication.ring_reduce_scatter_time
    ),
    "tree_all_reduce_time": _collective(
        "Double binary tree all-reduce", communication.tree_all_reduce_time
    ),
    "tree_bytes_sent": _sent("Bytes sent in a double tree", communication.tree_bytes_sent),
    "star_all_reduce_time": _collective("Star all-reduce", communication.star_all_reduce_time),
    "in_network_all_reduce_time": _collective(
        "All-reduce in the switch", communication.in_network_all_reduce_time
    ),
    "in_network_bytes_sent": _sent(
        "Bytes sent when the switch adds", communication.in_network_bytes_sent
    ),
    "hierarchical_all_reduce_time": Example(
        title="Hierarchical all-reduce",
        function=hierarchy.hierarchical_all_reduce_time,
        symbols=_hierarchical,
        inputs={**_NODES, "Bu": "scale_up", "au": "scale_up_latency", "ao": "latency"},
    ),
    "hierarchical_bytes_sent": Example(
        title="Bytes sent out of a node",
        function=hierarchy.hierarchical_bytes_sent,
        symbols=_hierarchical_bytes,
        inputs=_NODES,
    ),
    "algorithm_bandwidth": Example(
        title="Algorithm bandwidth",
        function=bandwidth.algorithm_bandwidth,
        symbols=_algorithm_bandwidth,
    ),
    "bus_bandwidth": Example(
        title="Bus bandwidth", function=bandwidth.bus_bandwidth, symbols=_bus_bandwidth
    ),
    "ring_tree_crossover_size": Example(
        title="Where ring and tree cross",
        function=bandwidth.ring_tree_crossover_size,
        symbols=_crossover,
        inputs=_RING,
    ),
    "half_bandwidth_size": Example(
        title="Size at half of the bandwidth",
        function=bandwidth.half_bandwidth_size,
        symbols=_half_size,
        inputs=_RING,
    ),
    "fit_two_points": Example(
        title="Latency and bandwidth from two measurements",
        function=bandwidth.fit_two_points,
        symbols=_fit,
    ),
    "ring_all_reduce_ramped_time": Example(
        title="Ring all-reduce with NCCL's ramp, in one node",
        function=ring_time.ring_all_reduce_ramped_time,
        symbols=_ramped,
        inputs={"n": "gpus_per_node", "B": "scale_up"},
    ),
}
