"""Numbers for the equations on communication: files communication, bandwidth, hierarchy, ..."""

from collections.abc import Callable, Mapping

from engine.calculators.reference.formula_sheet.inputs import (
    Example,
    Inputs,
    SymbolValues,
    gradient_bytes,
    world_size,
)
from engine.catalog.hardware import MEASURED
from engine.catalog.transports import LAUNCH, NVLINK
from engine.core.units import BANDWIDTH, BYTES, COUNT, RATIO, SECONDS, Bytes, Seconds
from engine.formulas import bandwidth, communication, hierarchy, ring_time

_RING = {"B": "port", "a": "latency"}
_NODES = {"g": "gpus_per_node", "m": "num_nodes"}


def _network_symbols(x: Inputs) -> SymbolValues:
    """Return the symbol values shared by all network collectives."""
    return {
        "n": (float(world_size(x)), COUNT),
        "S": (gradient_bytes(x), BYTES),
        "B": (x.port, BANDWIDTH),
        "a": (x.latency, SECONDS),
    }


def _time_example(title: str, function: Callable[[Bytes, int, float, float], Seconds]) -> Example:
    """Return the example of a collective's time on all GPUs."""

    def symbols(x: Inputs) -> SymbolValues:
        time = function(gradient_bytes(x), world_size(x), x.port, x.latency)
        return {"T": (time, SECONDS), **_network_symbols(x)}

    return Example(title=title, function=function, symbols=symbols, inputs=_RING)


def _bytes_example(title: str, function: Callable[[Bytes, int], Bytes]) -> Example:
    """Return the example of bytes sent by the busiest GPU."""

    def symbols(x: Inputs) -> SymbolValues:
        wire = _network_symbols(x)
        return {
            "V": (function(gradient_bytes(x), world_size(x)), BYTES),
            "n": wire["n"],
            "S": wire["S"],
        }

    return Example(title=title, function=function, symbols=symbols)


def _message(x: Inputs) -> SymbolValues:
    time = communication.point_to_point_time(gradient_bytes(x), x.port, x.latency)
    wire = _network_symbols(x)
    return {"T": (time, SECONDS), "a": wire["a"], "S": wire["S"], "B": wire["B"]}


def _hierarchical(x: Inputs) -> SymbolValues:
    ports = hierarchy.node_bandwidth(x.port, x.gpus_per_node)
    time = hierarchy.hierarchical_all_reduce_time(
        gradient_bytes(x),
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
        "S": (gradient_bytes(x), BYTES),
        "Bu": (x.scale_up, BANDWIDTH),
        "au": (x.scale_up_latency, SECONDS),
        "m": (x.num_nodes, COUNT),
        "Bo": (ports, BANDWIDTH),
        "ao": (x.latency, SECONDS),
    }


def _hierarchical_bytes(x: Inputs) -> SymbolValues:
    sent = hierarchy.hierarchical_bytes_sent(gradient_bytes(x), x.gpus_per_node, x.num_nodes)
    return {
        "V": (sent, BYTES),
        "m": (x.num_nodes, COUNT),
        "S": (gradient_bytes(x), BYTES),
        "g": (x.gpus_per_node, COUNT),
    }


def _ring_time(x: Inputs) -> Seconds:
    return communication.ring_all_reduce_time(gradient_bytes(x), world_size(x), x.port, x.latency)


def _algorithm_bandwidth(x: Inputs) -> SymbolValues:
    time = _ring_time(x)
    reached = bandwidth.algorithm_bandwidth(gradient_bytes(x), time)
    return {"Ba": (reached, BANDWIDTH), "S": (gradient_bytes(x), BYTES), "T": (time, SECONDS)}


def _bus_bandwidth(x: Inputs) -> SymbolValues:
    time = _ring_time(x)
    reached = bandwidth.bus_bandwidth(gradient_bytes(x), time, "all_reduce", world_size(x))
    factor = bandwidth.bus_bandwidth_factor("all_reduce", world_size(x))
    return {
        "Bb": (reached, BANDWIDTH),
        "f": (factor, RATIO),
        "S": (gradient_bytes(x), BYTES),
        "T": (time, SECONDS),
    }


def _crossover(x: Inputs) -> SymbolValues:
    size = bandwidth.ring_tree_crossover_size(world_size(x), x.port, x.latency)
    wire = _network_symbols(x)
    return {"Sc": (size, BYTES), "n": wire["n"], "a": wire["a"], "B": wire["B"]}


def _half_size(x: Inputs) -> SymbolValues:
    size = bandwidth.half_bandwidth_size(x.port, x.latency)
    wire = _network_symbols(x)
    return {"Sh": (size, BYTES), "a": wire["a"], "B": wire["B"]}


def _fit(x: Inputs) -> SymbolValues:
    # Two messages as a benchmark would time them: the size at half of the bandwidth, and a
    # hundred times that. Both parts of the time then have digits enough to be told apart.
    first = bandwidth.half_bandwidth_size(x.port, x.latency)
    second = 100 * first
    times = [communication.point_to_point_time(s, x.port, x.latency) for s in (first, second)]
    fit = bandwidth.fit_two_points(first, times[0], second, times[1])
    return {
        "B": (fit.bandwidth, BANDWIDTH),
        "S2": (second, BYTES),
        "Sa": (first, BYTES),
        "T2": (times[1], SECONDS),
        "Ta": (times[0], SECONDS),
        "a": (fit.latency, SECONDS),
        "Sh": (fit.half_size, BYTES),
    }


def _ramped(x: Inputs) -> SymbolValues:
    reached = MEASURED["h200_ring"].bus_bandwidth
    time = ring_time.ring_all_reduce_ramped_time(gradient_bytes(x), x.gpus_per_node, 1, reached)
    return {
        "T": (time, SECONDS),
        "To": (LAUNCH + NVLINK.start, SECONDS),
        "a": (NVLINK.step, SECONDS),
        "n": (x.gpus_per_node, COUNT),
        "S": (gradient_bytes(x), BYTES),
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
    "ring_all_reduce_time": _time_example("Ring all-reduce", communication.ring_all_reduce_time),
    "ring_bytes_sent": _bytes_example("Bytes sent in a ring", communication.ring_bytes_sent),
    "ring_half_time": _time_example(
        "Ring reduce-scatter, ring all-gather", communication.ring_reduce_scatter_time
    ),
    "tree_all_reduce_time": _time_example(
        "Double binary tree all-reduce", communication.tree_all_reduce_time
    ),
    "tree_bytes_sent": _bytes_example("Bytes sent in a double tree", communication.tree_bytes_sent),
    "star_all_reduce_time": _time_example("Star all-reduce", communication.star_all_reduce_time),
    "in_network_all_reduce_time": _time_example(
        "All-reduce in the switch", communication.in_network_all_reduce_time
    ),
    "in_network_bytes_sent": _bytes_example(
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
