"""The inputs of the counter decoder, and every number of the page."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from engine.core import units
from engine.core.inputs import GBITS, Number, Scalar, Text, Unit
from engine.core.outputs import Told
from engine.core.units import Bandwidth, Count, Gbit, Seconds, Share
from engine.form.counter_samples import SAMPLES
from engine.form.text_validation import checked_by
from engine.run.logs.counters import LONGEST_COUNTERS, CounterText, read_counters
from engine.simulate.collectives.counter_rates import Port

_SECONDS = Unit(" s", 1.0, {"ms": 1e-3, "min": 60.0, "h": 3600.0}, quantity=units.SECONDS)
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "A bad cable": {"counters": SAMPLES["cable"].text},
    "No credits": {"counters": SAMPLES["credits"].text},
    "Busy and healthy": {"counters": SAMPLES["healthy"].text},
    "Packets lost": {"counters": SAMPLES["lost"].text},
}


@lru_cache(maxsize=4)
def read(text: str) -> CounterText:
    """Return a text, read once for the check under its box and for the results."""
    return read_counters(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    counters: Annotated[
        str,
        Text(
            label="Output of perfquery, ethtool -S or rdma statistic, twice",
            longest=LONGEST_COUNTERS,
            samples=SAMPLES,
            rows=10,
            placeholder="date +%s.%N; ethtool -S eth0; sleep 10; date +%s.%N; ethtool -S eth0",
            help="A line of date +%s.%N before each says how far apart they are.",
            check=checked_by(read),
        ),
    ] = SAMPLES["paused"].text
    apart: Annotated[
        float,
        Number(
            label="Time between, if the text does not say",
            unit=_SECONDS,
            low=0.01,
            high=86_400.0,
            scale="log",
        ),
    ] = 10.0
    line_rate: Annotated[
        float,
        Number(
            label="Speed of the port",
            unit=GBITS,
            low=1 * Gbit,
            high=1600 * Gbit,
            scale="log",
            help="One way.",
        ),
    ] = 400 * Gbit


_READ = ("The growth of the counters over the time between the two readings.",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the text says of its worst port; no finite value where no port was read twice."""

    text: CounterText
    ports: tuple[Port, ...]
    worst: Port | None
    sent: Annotated[
        Bandwidth,
        Told(
            "Sent",
            note="{sent_share} of the port",
            color="communication",
            basis="measured",
            assumes=_READ,
        ),
    ]
    received: Annotated[
        Bandwidth,
        Told(
            "Received",
            note="{received_share} of the port",
            color="communication",
            basis="measured",
            assumes=_READ,
        ),
    ]
    paused: Annotated[
        Share,
        Told(
            "Told to pause",
            note="share of the time, of the worst priority",
            basis="measured",
            assumes=(
                "Microseconds that the port was paused, as the driver of mlx5 counts them. "
                "InfiniBand has no such counter.",
            ),
            sources=("mlx5_counters",),
        ),
    ]
    time: Annotated[Seconds, Told("Time between", basis="measured", assumes=_READ)]
    sent_share: Share
    received_share: Share
    num_odd: Count
