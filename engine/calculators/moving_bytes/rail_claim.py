"""Rail claim: is a 70B gradient synchronized in under a second on 400 Gb/s ports?"""

from dataclasses import dataclass, replace
from typing import Annotated

from engine.basis.inputs import BILLIONS, Number
from engine.basis.text import say
from engine.basis.units import BANDWIDTH, BYTES, COUNT, PARAMETERS, SECONDS, Seconds
from engine.basis.views import Badge, Published, Receipt, Value, View
from engine.catalog.hardware import LINKS, MEASURED
from engine.formulas.communication import RING_ALL_REDUCE, ring_all_reduce_time, ring_bytes_sent
from engine.formulas.hierarchy import flat_ring_bandwidth
from engine.formulas.overlap import gradient_size

TITLE = "Sub-second sync"
QUESTION = "Is a 70B gradient summed in under a second on 400 Gb/s ports?"
EQUATIONS = (RING_ALL_REDUCE,)
PRESETS = {"One port per node": {"ports_per_node": 1}}
GPUS_PER_NODE = 8
PORT = LINKS["infiniband_ndr"]
NVLINK = MEASURED["h200_ring"]
ELEMENT = 2.0
LIMIT: Seconds = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    parameters: Annotated[
        float,
        Number(label="Parameters", unit=BILLIONS, low=1e9, high=1e12, scale="log", symbol="P"),
    ] = 70e9
    ports_per_node: Annotated[
        int, Number(label="Ports per node of 8", low=1, high=16, whole=True, symbol="k")
    ] = 8
    num_nodes: Annotated[
        int, Number(label="Nodes", low=2, high=4096, scale="log2", whole=True, symbol="m")
    ] = 8


def compute(inputs: Inputs) -> dict[str, View]:
    """Return the views, in the order of the page."""
    size = gradient_size(inputs.parameters, ELEMENT)
    ranks = inputs.num_nodes * GPUS_PER_NODE
    wire = flat_ring_bandwidth(NVLINK.bus_bandwidth, PORT.bandwidth, inputs.ports_per_node)
    time = ring_all_reduce_time(size, ranks, wire)
    largest = LIMIT * wire / ring_bytes_sent(ELEMENT, ranks)
    symbols = {
        "T": (time, SECONDS),
        "n": (float(ranks), COUNT),
        "S": (size, BYTES),
        "B": (wire, BANDWIDTH),
        "a": (0.0, SECONDS),
    }
    receipt = Receipt(
        equation=RING_ALL_REDUCE,
        symbols=symbols,
        inputs={"n": "num_nodes", "S": "parameters", "B": "ports_per_node"},
        assumptions=(
            "bf16 gradients, one ring per port, latencies left out.",
            say(
                "The ring is no faster than NVLink, measured at {b} on 8 H200.",
                b=(NVLINK.bus_bandwidth, BANDWIDTH),
            ),
        ),
        sources=(PORT.source, NVLINK.source),
        published=Published(
            text="a published calculator promises less than a second for models up to 70B",
            reason="That holds with eight ports per node, not with the one it computes with.",
            source="pingdo_sync",
            claim="E3.10",
        ),
    )
    return {
        "time": Value(
            label="All-reduce",
            value=time,
            quantity=SECONDS,
            receipt=receipt,
            note=say("{n} GPUs, {s} of gradients", n=(ranks, COUNT), s=(size, BYTES)),
            color="communication",
        ),
        "verdict": Badge(
            text="True" if time < LIMIT else "False",
            sentence=say(
                "One port of 400 Gb/s per node carries the ring at {b}: {t}.",
                b=(wire, BANDWIDTH),
                t=(time, SECONDS),
            )
            if inputs.ports_per_node == 1
            else say(
                "{k} ports of 400 Gb/s per node carry the rings at {b}: {t}.",
                k=(inputs.ports_per_node, COUNT),
                b=(wire, BANDWIDTH),
                t=(time, SECONDS),
            ),
            color="compute" if time < LIMIT else "communication",
        ),
        "largest": Value(
            label="Largest model in one second",
            value=largest,
            quantity=PARAMETERS,
            receipt=replace(
                receipt,
                symbols=symbols
                | {"T": (LIMIT, SECONDS), "S": (gradient_size(largest, ELEMENT), BYTES)},
                assumptions=(
                    "Solved for the gradient that takes one second, two bytes per parameter.",
                    *receipt.assumptions,
                ),
            ),
            note="the same wires, latencies left out",
        ),
    }
