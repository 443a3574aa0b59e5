"""Bus bandwidth: what the reader can change, and the time as bandwidths."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, cast

from engine.catalog.hardware import LINKS
from engine.core.inputs import GBYTES_PER_SECOND, Choice, Number
from engine.core.outputs import Told
from engine.core.units import GB, MICRO, Bandwidth, Bytes, GiB, Ratio, Share
from engine.form.collective_names import TESTED
from engine.form.nccl_fields import LARGEST, MESSAGES, SMALLEST, TIMES
from engine.formulas.bandwidth import (
    Operation,
    algorithm_bandwidth,
    bus_bandwidth,
    bus_bandwidth_factor,
)
from engine.formulas.communication import in_network_bytes_sent

MOST = 4096
COLUMN = tuple(2**power for power in range(1, 13))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    operation: Annotated[str, Choice(label="Operation", options=TESTED)] = "all_reduce"
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=MOST, scale="log2", whole=True, symbol="n")
    ] = 8
    size: Annotated[
        float,
        Number(
            label="Size, first column",
            unit=MESSAGES,
            low=SMALLEST,
            high=LARGEST,
            scale="log2",
            symbol="S",
        ),
    ] = 16 * GiB
    time: Annotated[
        float,
        Number(
            label="Time, as printed",
            unit=TIMES,
            low=5 * MICRO,
            high=1.0,
            scale="log",
            symbol="T",
        ),
    ] = 62_648 * MICRO
    adds: Annotated[
        str,
        Choice(
            label="Who adds",
            options={"gpus": "the GPUs", "switch": "the switch (NVLS)"},
            help="Of an all-reduce; the switch adds nothing in the other operations.",
        ),
    ] = "switch"
    link: Annotated[
        float,
        Number(
            label="Link of a GPU, one way",
            unit=GBYTES_PER_SECOND,
            low=1 * GB,
            high=2000 * GB,
            scale="log",
        ),
    ] = LINKS["nvlink4"].bandwidth


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The time as three bandwidths."""

    factor: Annotated[
        Ratio,
        Told(
            "Factor of the operation",
            "f",
            basis="definition",
            assumes=("Of ranks that send to each other on a flat network.",),
            sources=("nccl_tests",),
        ),
    ]
    algorithm_bandwidth: Annotated[
        Bandwidth, Told("Algorithm bandwidth", "Ba", "size over time", basis="definition")
    ]
    bus_bandwidth: Annotated[
        Bandwidth,
        Told("Bus bandwidth", "Bb", "as nccl-tests print it", "communication", basis="definition"),
    ]
    wire: Annotated[
        Bandwidth,
        Told(
            "On the wire",
            "",
            "what the link of each GPU carries, one way",
            "data",
            assumes=(
                "Where the switch adds, a GPU sends (n + 1)/n of the buffer, and receives as much.",
            ),
            sources=("nccl_tests", "graham2016"),
        ),
    ]
    share: Annotated[Share, Told("Of the link", assumes=("On the wire, over its line rate.",))]
    sent: Annotated[
        Bytes,
        Told(
            "Sent by each GPU",
            assumes=("Factor times size; where the switch adds, (n + 1)/n of it.",),
            sources=("nccl_tests", "graham2016"),
        ),
    ]
    above: Share
    switched: bool
    few: tuple[Ratio, ...]
    parts: tuple[Ratio, ...]
    operations: Mapping[str, tuple[Ratio, Bandwidth]]


def solve(inputs: Inputs) -> Result:
    """Return the bandwidths of the time."""
    operation = cast(Operation, inputs.operation)
    n, size, time = inputs.world_size, inputs.size, inputs.time
    factor = bus_bandwidth_factor(operation, n)
    switched = inputs.adds == "switch" and operation == "all_reduce"
    sent = in_network_bytes_sent(size, n) if switched else factor * size
    bus = bus_bandwidth(size, time, operation, n)
    return Result(
        factor=factor,
        algorithm_bandwidth=algorithm_bandwidth(size, time),
        bus_bandwidth=bus,
        wire=sent / time,
        share=sent / time / inputs.link,
        sent=sent,
        above=bus / inputs.link - 1,
        switched=switched,
        few=tuple(bus_bandwidth_factor("all_reduce", one) for one in COLUMN),
        parts=tuple(bus_bandwidth_factor("all_gather", one) for one in COLUMN),
        operations={one: _factor_and_bus(inputs, cast(Operation, one)) for one in TESTED},
    )


def _factor_and_bus(inputs: Inputs, operation: Operation) -> tuple[Ratio, Bandwidth]:
    n = inputs.world_size
    return bus_bandwidth_factor(operation, n), bus_bandwidth(inputs.size, inputs.time, operation, n)
