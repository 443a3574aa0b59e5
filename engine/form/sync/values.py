"""The numbers of the gradient sync lab, each with its receipt."""

from engine.basis.equation import Equation
from engine.basis.text import Text, say
from engine.basis.units import (
    BANDWIDTH,
    BYTES,
    COUNT,
    PARAMETERS,
    RATIO,
    SECONDS,
    Bytes,
    Quantity,
)
from engine.basis.views import Receipt, Value
from engine.form.sync.inputs import Inputs
from engine.form.sync.model import ELEMENT, Sync
from engine.formulas.bandwidth import (
    ALGORITHM_BANDWIDTH,
    BUS_BANDWIDTH,
    algorithm_bandwidth,
    bus_bandwidth,
    bus_bandwidth_factor,
)
from engine.formulas.communication import (
    IN_NETWORK_ALL_REDUCE,
    IN_NETWORK_BYTES,
    RING_ALL_REDUCE,
    RING_BYTES,
    TREE_ALL_REDUCE,
    TREE_BYTES,
    in_network_bytes_sent,
    ring_bytes_sent,
    tree_bytes_sent,
)
from engine.formulas.hierarchy import (
    HIERARCHICAL_ALL_REDUCE,
    HIERARCHICAL_BYTES,
    hierarchical_bytes_sent,
)
from engine.formulas.overlap import GRADIENT_SIZE, gradient_size

TIME_EQUATION = {
    "ring": RING_ALL_REDUCE,
    "tree": TREE_ALL_REDUCE,
    "hierarchical": HIERARCHICAL_ALL_REDUCE,
    "in_network": IN_NETWORK_ALL_REDUCE,
}
BYTES_EQUATION = {
    "ring": RING_BYTES,
    "tree": TREE_BYTES,
    "hierarchical": HIERARCHICAL_BYTES,
    "in_network": IN_NETWORK_BYTES,
}
FROM = {"n": "world_size", "P": "parameters", "t": "tokens_per_gpu", "u": "utilization"} | {
    "B": "port",
    "a": "latency",
    "g": "gpus_per_node",
}
ALONE: Text = "Alone on the wire: no other traffic, no congestion, every port at its line rate."


def wire_words(inputs: Inputs, sync: Sync) -> Text:
    """Return which wire carries the ring, in words."""
    if sync.num_nodes == 1:
        return say(
            "over NVLink inside one node, {b} per GPU one way", b=(sync.bandwidth, BANDWIDTH)
        )
    if inputs.gpus_per_node == 1:
        return say("over the network, {b} per GPU one way", b=(sync.bandwidth, BANDWIDTH))
    return say(
        "over {m} nodes, rings at {b} one way (the slower of NVLink and a node's ports)",
        m=(sync.num_nodes, COUNT),
        b=(sync.bandwidth, BANDWIDTH),
    )


def sent_bytes(inputs: Inputs, sync: Sync, algorithm: str) -> Bytes:
    """Return what a GPU sends (for hierarchical: into the network)."""
    if algorithm == "tree":
        return tree_bytes_sent(sync.size, inputs.world_size)
    if algorithm == "in_network":
        return in_network_bytes_sent(sync.size, inputs.world_size)
    if algorithm == "hierarchical" and inputs.gpus_per_node > 1:
        return hierarchical_bytes_sent(sync.size, sync.local, sync.num_nodes)
    return ring_bytes_sent(sync.size, inputs.world_size)


def effective(inputs: Inputs, sync: Sync) -> str:
    """Return the algorithm whose formula applies: with one GPU per node a hierarchy is a ring."""
    flat = sync.algorithm == "hierarchical" and inputs.gpus_per_node == 1
    return "ring" if flat else sync.algorithm


def wire_symbols(inputs: Inputs, sync: Sync) -> dict[str, tuple[float, Quantity]]:
    """Return the symbols of the all-reduce formulas."""
    return {
        "T": (sync.collective, SECONDS),
        "S": (sync.size, BYTES),
        "n": (inputs.world_size, COUNT),
        "B": (sync.bandwidth, BANDWIDTH),
        "a": (inputs.latency, SECONDS),
        "g": (sync.local, COUNT),
        "m": (sync.num_nodes, COUNT),
        "Bu": (inputs.scale_up, BANDWIDTH),
        "Bo": (inputs.port * inputs.ports_per_node, BANDWIDTH),
        "au": (inputs.latency, SECONDS),
        "ao": (inputs.latency, SECONDS),
        "V": (sent_bytes(inputs, sync, sync.algorithm), BYTES),
        "P": (inputs.parameters, PARAMETERS),
        "e": (ELEMENT[inputs.dtype], BYTES),
    }


def receipt(
    equation: Equation,
    symbols: dict[str, tuple[float, Quantity]],
    *assumptions: Text,
    basis: str = "modelled",
) -> Receipt:
    """Return the receipt of a number that an equation gives."""
    used = {key: symbols[key] for key in equation.symbols}
    return Receipt(
        basis=basis,
        equation=equation,
        symbols=used,
        inputs={key: name for key, name in FROM.items() if key in used},
        assumptions=assumptions,
    )


def time_receipt(inputs: Inputs, sync: Sync, *assumptions: Text) -> Receipt:
    """Return the receipt of the time of the whole all-reduce, with further assumptions."""
    equation = TIME_EQUATION[effective(inputs, sync)]
    wire = _wire_assumption(inputs, sync)
    return receipt(equation, wire_symbols(inputs, sync), *assumptions, ALONE, wire)


def all_reduce_values(inputs: Inputs, sync: Sync) -> dict[str, Value]:
    """Return the all-reduce by itself: its time, its two parts, its bytes, its bandwidths."""
    symbols = wire_symbols(inputs, sync)
    name = effective(inputs, sync)
    sent = sent_bytes(inputs, sync, sync.algorithm)
    factor = bus_bandwidth_factor("all_reduce", inputs.world_size)
    bandwidths = symbols | {
        "Ba": (algorithm_bandwidth(sync.size, sync.collective), BANDWIDTH),
        "Bb": (
            bus_bandwidth(sync.size, sync.collective, "all_reduce", inputs.world_size),
            BANDWIDTH,
        ),
        "f": (factor, RATIO),
    }
    return {
        "bandwidth_part": Value(
            label="Bandwidth part",
            value=sync.collective - sync.latency_part,
            quantity=SECONDS,
            receipt=time_receipt(inputs, sync, "Of the sum, the terms with a bandwidth."),
            note="bytes over bandwidth",
        ),
        "latency_part": Value(
            label="Latency part",
            value=sync.latency_part,
            quantity=SECONDS,
            receipt=time_receipt(inputs, sync, "Of the sum, the terms with a latency."),
            note="one latency per step",
        ),
        "gradient_size": Value(
            label="Gradient",
            value=gradient_size(inputs.parameters, ELEMENT[inputs.dtype]),
            quantity=BYTES,
            receipt=receipt(GRADIENT_SIZE, symbols, "Every parameter has one gradient."),
            color="gradients",
        ),
        "sent_bytes": Value(
            label="Sent by each GPU" + (" into the network" if name == "hierarchical" else ""),
            value=sent,
            quantity=BYTES,
            receipt=receipt(BYTES_EQUATION[name], symbols, "Each GPU receives as much."),
            note=_sent_note(name),
            color="communication",
        ),
        "algorithm_bandwidth": Value(
            label="Algorithm bandwidth",
            value=bandwidths["Ba"][0],
            quantity=BANDWIDTH,
            receipt=receipt(ALGORITHM_BANDWIDTH, bandwidths),
            note="buffer over time",
        ),
        "bus_bandwidth": Value(
            label="Bus bandwidth",
            value=bandwidths["Bb"][0],
            quantity=BANDWIDTH,
            receipt=receipt(
                BUS_BANDWIDTH,
                bandwidths,
                "Compare it with the line rate. With in-network reduction it may exceed the wire.",
            ),
            note=say("algorithm bandwidth times {f}", f=(factor, RATIO)),
        ),
    }


def _sent_note(algorithm: str) -> str:
    if algorithm == "ring":
        return "the least any all-reduce can send without help of a switch"
    if algorithm == "in_network":
        return "the switch adds, so the sum comes back once"
    return "the busiest GPU" if algorithm == "tree" else "the rest stays on NVLink"


def _wire_assumption(inputs: Inputs, sync: Sync) -> Text:
    if sync.num_nodes > 1 and inputs.gpus_per_node > 1 and sync.algorithm != "hierarchical":
        return "One ring per network port; each ring enters and leaves a node once."
    if sync.algorithm == "hierarchical" and inputs.gpus_per_node > 1:
        return "The three phases follow one another; a pipelined library overlaps them."
    return "One GPU, one port: the ring runs at the speed of that port."
