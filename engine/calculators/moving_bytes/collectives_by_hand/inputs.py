"""Collectives by hand: what the reader can change."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.transports import INFINIBAND
from engine.core.inputs import GBITS, GIGABYTES, MICROSECONDS, PERCENT, Choice, Number
from engine.core.units import GB, KB, MICRO, TB, Gbit
from engine.form.collective_names import label
from engine.form.fields import FewGpus
from engine.simulate.collectives.collective_execution import OPERATIONS
from engine.simulate.collectives.collective_walkthrough import Setup, algorithms, place


def _options() -> dict[str, str]:
    every = {name for names in algorithms().values() for name in names}
    return {name: label(name) for name in sorted(every, key=place)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    operation: Annotated[
        str,
        Choice(
            label="Operation",
            options={key: name.capitalize() for key, name in OPERATIONS.items()},
        ),
    ] = "all_reduce"
    algorithm: Annotated[
        str,
        Choice(
            label="Algorithm",
            options=_options(),
            help="Not every operation has every algorithm; the nearest one is then shown.",
        ),
    ] = "ring"
    world_size: FewGpus = 8
    slow_share: Annotated[
        float,
        Number(
            label="Remaining speed of one port",
            unit=PERCENT,
            low=0.05,
            high=1.0,
            step=0.05,
            help="What the port of one GPU still sends, as a share of what it should.",
        ),
    ] = 1.0
    seed: Annotated[
        int,
        Number(
            label="Numbers",
            low=0,
            high=999,
            whole=True,
            help="Other numbers to start with; 0 counts up.",
        ),
    ] = 0
    slow_gpu: Annotated[
        int,
        Number(label="Slow GPU", low=0, high=15, whole=True, advanced=True),
    ] = 1
    size: Annotated[
        float,
        Number(
            label="Buffer of a GPU",
            unit=GIGABYTES,
            low=1 * KB,
            high=1 * TB,
            scale="log",
            symbol="S",
            advanced=True,
        ),
    ] = 14 * GB
    port: Annotated[
        float,
        Number(
            label="Port per GPU",
            unit=GBITS,
            low=10 * Gbit,
            high=1600 * Gbit,
            scale="log",
            symbol="B",
            advanced=True,
        ),
    ] = 400 * Gbit
    latency: Annotated[
        float,
        Number(
            label="Latency of one message",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=50 * MICRO,
            scale="log",
            symbol="α",
            advanced=True,
        ),
    ] = INFINIBAND.step


def setup_of(inputs: Inputs) -> Setup:
    """Return what is played."""
    return Setup(
        operation=inputs.operation,
        algorithm=inputs.algorithm,
        world_size=inputs.world_size,
        seed=inputs.seed,
        slow_gpu=inputs.slow_gpu,
        slow_share=inputs.slow_share,
        size=inputs.size,
        port=inputs.port,
        latency=inputs.latency,
    )
