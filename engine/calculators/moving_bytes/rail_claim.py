"""Rail claim: is a 70B gradient synchronized in under a second on 400 Gb/s ports?"""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.hardware import GPUS, LINKS, MEASURED
from engine.core.inputs import BILLIONS, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Bandwidth, Bytes, Count, Parameters, Seconds
from engine.core.views import Badge, Published
from engine.form.gradient_type import GradientType
from engine.formulas.bandwidth import largest_buffer
from engine.formulas.communication import RING_ALL_REDUCE, ring_all_reduce_time
from engine.formulas.hierarchy import flat_ring_bandwidth
from engine.formulas.overlap import gradient_size
from engine.run.software import GRADIENT_BYTES
from engine.simulate.collectives.cluster_wires import all_reduce_time, cluster_wires

TITLE = "Sub-second sync"
QUESTION = "Is a 70B gradient summed in under a second on 400 Gb/s ports?"
HEADLINE = "composed"
EQUATIONS = (RING_ALL_REDUCE,)
PRESETS = {
    "One port per node": {"ports_per_node": 1},
    "Gradients in fp32": {"gradients": "fp32"},
}
GPUS_PER_NODE = 8
PORT = LINKS["infiniband_ndr"]
NVLINK = MEASURED["h200_ring"]
LIMIT: Seconds = 1.0
_ASSUMES = (
    "One ring per port at its line rate, latencies left out. NCCL may take another algorithm: with "
    "NVLink SHARP the switch of a node adds, and less crosses NVLink than in a ring.",
    "The ring is no faster than NVLink, measured at {nvlink} on 8 H200.",
)
_SOURCES = (PORT.source, NVLINK.source)
_CLAIM = Published(
    text="a published calculator promises less than a second for models up to 70B",
    reason="That holds with eight ports per node, not with the one it computes with.",
    source="pingdo_sync",
    claim="E3.10",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

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
    gradients: GradientType = "bf16"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The time of the ring, and the largest model that it reduces within a second."""

    size: Annotated[Bytes, Output(symbol="S", of="parameters")]
    ranks: Annotated[Count, Output(symbol="n", of="num_nodes")]
    wire: Annotated[Bandwidth, Output(symbol="B", of="ports_per_node")]
    latency: Annotated[Seconds, Output(symbol="a")] = 0.0
    nvlink: Bandwidth = NVLINK.bus_bandwidth
    time: Annotated[
        Seconds,
        Output("A ring at line rate", "T", "{ranks} GPUs, {size} of gradients", "communication"),
    ]
    composed: Annotated[
        Seconds,
        Output(
            "As NCCL runs it",
            note="on H200, as on every page",
            color="communication",
            assumes=(
                "NCCL's algorithm and protocol for this size, by times fitted to measured curves; "
                "ports at the share of their line rate that collectives reach.",
            ),
            sources=("nccl_tuning", "nccl_tests"),
        ),
    ]
    largest: Annotated[
        Parameters,
        Output("Largest model in one second, by rings", "", "the same wires, latencies left out"),
    ]
    largest_size: Annotated[Bytes, Output(of="parameters")]
    limit: Seconds = LIMIT


def solve(inputs: Inputs) -> Result:
    """Return the time of the ring, and the largest model within a second."""
    element = GRADIENT_BYTES[inputs.gradients]
    size = gradient_size(inputs.parameters, element)
    ranks = inputs.num_nodes * GPUS_PER_NODE
    wire = flat_ring_bandwidth(NVLINK.bus_bandwidth, PORT.bandwidth, inputs.ports_per_node)
    largest = largest_buffer(LIMIT, wire, ranks)
    wires = cluster_wires(GPUS["h200"], ranks, GPUS_PER_NODE, inputs.ports_per_node, PORT.bandwidth)
    return Result(
        size=size,
        ranks=ranks,
        wire=wire,
        time=ring_all_reduce_time(size, ranks, wire),
        composed=all_reduce_time(wires, "auto", size),
        largest=largest / element,
        largest_size=largest,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    if result.wire < inputs.ports_per_node * PORT.bandwidth:
        ports = "With {ports_per_node} ports per node, NVLink limits the rings"
    elif inputs.ports_per_node == 1:
        ports = "One port of 400 Gb/s per node carries the ring"
    else:
        ports = "{ports_per_node} ports of 400 Gb/s per node carry the rings"
    return {
        "time": present.value("time", assumes=_ASSUMES, sources=_SOURCES, published=_CLAIM),
        "composed": present.value("composed"),
        "verdict": Badge(
            text="True" if result.composed < LIMIT else "False",
            sentence=present.say(
                ports + ": {wire}, {time} without latency. NCCL takes {composed}."
            ),
            color="compute" if result.composed < LIMIT else "communication",
        ),
        "largest": present.value(
            "largest",
            receipt=present.receipt(
                RING_ALL_REDUCE,
                f"Solved for the gradient that takes one second, in {inputs.gradients}.",
                *_ASSUMES,
                sources=_SOURCES,
                published=_CLAIM,
                T="limit",
                S="largest_size",
            ),
        ),
    }
