"""Units in which inputs are typed and displayed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.core.units import (
    BANDWIDTH,
    BYTES,
    FLOP_RATE,
    LINK_SPEED,
    PARAMETERS,
    SECONDS,
    SHARE,
    TOKENS,
    Quantity,
)


@dataclass(frozen=True, slots=True)
class Unit:
    """The unit of an input field.

    Attributes:
        text: as written after the number, with its space: " Gb/s", "B", "".
        size: in SI base units.
        also: other units a reader may type -> their size.
        shown: those of them that a value is shown in, whichever suits it; then a reader must name
            the unit.
        quantity: what a number in it measures, where that is always the same.
    """

    text: str
    size: float
    also: Mapping[str, float] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    quantity: Quantity | None = None

    @property
    def measures(self) -> Quantity | None:
        """The quantity of a number in this unit; a project's own unit is its own quantity."""
        if self.quantity or not self.text.strip():
            return self.quantity
        return Quantity(self.text.strip(), sign=self.text, size=self.size)

    def of(self, value: float) -> tuple[str, float]:
        """Return text and size of the largest unit not above a value."""
        sizes = sorted((self.also[name], f" {name}") for name in self.shown)
        fitting = [(text, size) for size, text in sizes if size <= abs(value) * (1 + 1e-9)]
        if fitting:
            return fitting[-1]
        return (sizes[0][1], sizes[0][0]) if sizes else (self.text, self.size)


PLAIN = Unit("", 1, {"k": 1e3, "M": 1e6})
BILLIONS = Unit(
    "B", 1e9, {"K": 1e3, "M": 1e6, "T": 1e12, "billion": 1e9, "million": 1e6}, quantity=PARAMETERS
)
TRILLIONS = Unit("T", 1e12, {"B": 1e9, "M": 1e6, "billion": 1e9, "trillion": 1e12}, quantity=TOKENS)
# Elements of a buffer, as DeepSpeed counts them.
ELEMENTS = Unit(
    " M", 1e6, {"k": 1e3, "B": 1e9, "million": 1e6, "billion": 1e9}, quantity=PARAMETERS
)
GBITS = Unit(
    " Gb/s",
    1.25e8,
    {"G": 1.25e8, "Gbps": 1.25e8, "Tb/s": 1.25e11, "GB/s": 1e9, "MB/s": 1e6, "TB/s": 1e12},
    quantity=LINK_SPEED,
)
GBYTES_PER_SECOND = Unit(
    " GB/s", 1e9, {"Gb/s": 1.25e8, "TB/s": 1e12, "MB/s": 1e6}, quantity=BANDWIDTH
)
MICROSECONDS = Unit(" µs", 1e-6, {"us": 1e-6, "ns": 1e-9, "ms": 1e-3, "s": 1.0}, quantity=SECONDS)
MILLISECONDS = Unit(" ms", 1e-3, {"us": 1e-6, "µs": 1e-6, "s": 1.0}, quantity=SECONDS)
PERCENT = Unit(" %", 0.01, quantity=SHARE)
MEBIBYTES = Unit(
    " MiB", 2.0**20, {"B": 1, "KiB": 2.0**10, "GiB": 2.0**30, "MB": 1e6, "GB": 1e9}, quantity=BYTES
)
MEGABYTES = Unit(
    " MB", 1e6, {"B": 1, "kB": 1e3, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20}, quantity=BYTES
)
GIGABYTES = Unit(
    " GB",
    1e9,
    {"B": 1, "kB": 1e3, "MB": 1e6, "TB": 1e12, "MiB": 2.0**20, "GiB": 2.0**30},
    quantity=BYTES,
)
TFLOPS = Unit(
    " TFLOP/s", 1e12, {"PFLOP/s": 1e15, "TFLOPS": 1e12, "PFLOPS": 1e15}, quantity=FLOP_RATE
)


# The type of an input value.

Scalar = float | int | str | bool
