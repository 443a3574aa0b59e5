"""The inputs of the step composer: times of the operations, room, and the order on each stream."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import MILLISECONDS, Number, Order, Scalar, Switch
from engine.core.units import MILLI, Seconds
from engine.simulate.streams.stream_orders import COMMUNICATION_ITEMS, COMPUTE_ITEMS, LAYERS

REDUCE_FIRST = "-".join(COMMUNICATION_ITEMS)

PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "Blocking: room for one layer": {"room": 1},
    "Prefetch by one": {"communication": "AG1-AG2-AG3-AG2b-RS3-AG1b-RS2-RS1"},
    "Everything gathered first": {"room": 3},
}


def _time(label: str, low: Seconds = 0.0) -> Number:
    return Number(
        label=label, unit=MILLISECONDS, low=low, high=20 * MILLI, step=0.5 * MILLI, advanced=True
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    room: Annotated[
        int,
        Number(
            label="Room for gathered layers",
            low=1,
            high=LAYERS,
            whole=True,
            help="With room for all three, none is freed and gathered again.",
        ),
    ] = 2
    clipped: Annotated[
        bool,
        Switch(
            label="Optimizer waits for all gradients",
            help="As it must to clip them by their norm.",
        ),
    ] = True
    communication: Annotated[
        str,
        Order(
            label="Communication",
            items=COMMUNICATION_ITEMS,
            help="Order of the stream; AG2b gathers layer 2 again, for its backward pass.",
            advanced=True,
        ),
    ] = REDUCE_FIRST
    compute: Annotated[
        str,
        Order(label="Compute", items=COMPUTE_ITEMS, help="Order of the stream.", advanced=True),
    ] = "-".join(COMPUTE_ITEMS)
    gather: Annotated[float, _time("All-gather of a layer (AG)")] = 3 * MILLI
    reduction: Annotated[float, _time("Reduce-scatter (RS)")] = 3 * MILLI
    forward: Annotated[float, _time("Forward (F)", 0.5 * MILLI)] = 2 * MILLI
    backward: Annotated[float, _time("Backward (B)")] = 4 * MILLI
    optimizer: Annotated[float, _time("Optimizer, per layer (Opt)")] = 1 * MILLI
