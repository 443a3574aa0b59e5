"""Inputs for checkpoints, failures and prices, shared by several calculators."""

import math
from typing import Annotated, Protocol

from engine.catalog.publications import LLAMA_3_405B
from engine.core import units
from engine.core.inputs import PERCENT, Number, Unit
from engine.core.outputs import Figure, Symbol
from engine.core.units import DAY, HOUR, Count, Seconds
from engine.core.views import Receipt
from engine.formulas.goodput import job_mtbf
from engine.simulate.job.failure_process import CheckpointPolicy

SECONDS = Unit(" s", 1.0, {"ms": 1e-3, "min": 60.0, "h": HOUR}, quantity=units.SECONDS)
MINUTES = Unit(" min", 60.0, {"s": 1.0, "h": HOUR}, quantity=units.SECONDS)
HOURS = Unit(" h", HOUR, {"s": 1.0, "min": 60.0, "d": DAY, "days": DAY}, quantity=units.SECONDS)
WATTS = Unit(" W", 1.0, {"kW": 1e3}, quantity=units.POWER)

# Of 466 interruptions in 54 days on 16,384 GPUs 419 were unexpected (Llama 3, section 3.3.4).
LLAMA3_GPUS, LLAMA3_FAILURES = LLAMA_3_405B.world_size, LLAMA_3_405B.unexpected
LLAMA3_WINDOW = LLAMA_3_405B.window
LLAMA3_MTBF = 50_677 * HOUR  # what that makes per GPU, to the hour

Interval = Annotated[
    float,
    Number(
        label="Work between checkpoints",
        unit=MINUTES,
        low=30.0,
        high=DAY,
        scale="log",
        symbol="τ",
    ),
    Symbol("t"),
]
Checkpoint = Annotated[
    float,
    Number(
        label="Time of a checkpoint",
        unit=SECONDS,
        low=0.1,
        high=HOUR,
        scale="log",
        symbol="δ",
        help="Only the part in which no step runs.",
    ),
    Symbol("d"),
]
Restart = Annotated[
    float,
    Number(
        label="Restart",
        unit=MINUTES,
        low=6.0,
        high=DAY,
        scale="log",
        symbol="R",
        help="From a failure until the steps go on: to notice, replace, load, compile.",
    ),
]
GpuMtbf = Annotated[
    float,
    Number(
        label="Mean time between failures of one GPU",
        unit=HOURS,
        low=1e3 * HOUR,
        high=1e6 * HOUR,
        scale="log",
        help="With its share of host, cables and software.",
    ),
    Symbol("Mg"),
]
Slower = Annotated[
    float,
    Number(
        label="One GPU is slower by",
        unit=PERCENT,
        low=0.0,
        high=0.5,
        step=0.01,
        symbol="s",
    ),
    Symbol("l"),
]
BoardPower = Annotated[
    float,
    Number(
        label="Power per GPU",
        unit=WATTS,
        low=50.0,
        high=5000.0,
        scale="log",
        symbol="W",
        help="The default is the limit of the board; host, fans and network come on top.",
        advanced=True,
    ),
]
Overhead = Annotated[
    float,
    Number(
        label="PUE of the building",
        low=1.0,
        high=3.0,
        step=0.01,
        advanced=True,
        help="What the building draws over what its servers draw.",
    ),
    Symbol("x"),
]
Seed = Annotated[
    int,
    Number(
        label="Random seed",
        low=1,
        high=1000,
        whole=True,
        advanced=True,
        help="Another number, another life of the same job.",
    ),
]

NO_FAILURE_RECEIPT = Receipt(
    assumptions=(
        "The run is over before the first checkpoint is due, and hardly anything can fail in it.",
    ),
)
LONG_CHECKPOINT_RECEIPT = Receipt(
    assumptions=(
        "A checkpoint takes twice the mean time between failures or more.",
        "Then that mean time itself is the best there is.",
    ),
    sources=("daly2006",),
)
NO_END_RECEIPT = Receipt(
    assumptions=("Something fails before the next checkpoint is reached: the run has no end.",),
)


class SavingInputs(Protocol):
    """Inputs of a page with checkpoints and failures."""

    @property
    def interval(self) -> Seconds:
        """Work between two checkpoints."""

    @property
    def checkpoint(self) -> Seconds:
        """Time of one."""

    @property
    def restart(self) -> Seconds:
        """From a failure until steps go on."""

    @property
    def gpu_mtbf(self) -> Seconds:
        """Mean time between failures of one GPU."""


def checkpoint_policy(inputs: SavingInputs, num_gpus: Count) -> CheckpointPolicy:
    """Return the checkpoints and failures of a job on so many GPUs."""
    return CheckpointPolicy(
        interval=inputs.interval,
        checkpoint=inputs.checkpoint,
        restart=inputs.restart,
        mtbf=job_mtbf(inputs.gpu_mtbf, num_gpus),
    )


def rounded_failures(number: float) -> float:
    """Return a number of failures, rounded from 10 up."""
    return float(round(number)) if number >= 10 and math.isfinite(number) else number


def goodput_symbols(
    interval: Seconds, checkpoint: Seconds, steps: Seconds
) -> dict[str, Figure | str]:
    """Return the symbols of goodput; a run within one interval writes no checkpoint."""
    if steps <= interval:
        return {"t": (steps, units.SECONDS), "d": (0.0, units.SECONDS)}
    return {"t": (interval, units.SECONDS), "d": (checkpoint, units.SECONDS)}
