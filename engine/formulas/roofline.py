"""The roofline: how fast an operation can run, by its operations for every byte it moves."""

from dataclasses import dataclass

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, FlopRate, Intensity, Operations, Ratio, Seconds

MULTIPLY_ADD: Operations = 2.0

INTENSITY = Equation(
    name="arithmetic_intensity",
    tex=r"\v{I} = \frac{\v{W}}{\v{Q}}",
    symbols={
        "I": ("I", "operations per byte"),
        "W": ("W", "operations"),
        "Q": ("Q", "bytes that go through memory"),
    },
    sources=("williams2009",),
    title="Arithmetic intensity",
)


def intensity(operations: Operations, moved: Bytes) -> Intensity:
    """Return the operations for every byte that goes through memory. Williams et al. 2009."""
    return operations / moved


RIDGE = Equation(
    name="ridge",
    tex=r"\v{R} = \frac{\v{F}}{\v{B}}",
    symbols={
        "R": (r"I^{*}", "intensity of the ridge"),
        "F": ("F", "peak"),
        "B": ("B", "memory bandwidth"),
    },
    sources=("williams2009",),
    title="Ridge of the roofline",
)


def ridge(peak: FlopRate, bandwidth: Bandwidth) -> Intensity:
    """Return the intensity from which computation is the limit. Williams et al. 2009."""
    return peak / bandwidth


ATTAINABLE = Equation(
    name="attainable",
    tex=r"\v{A} = \min\left(\v{F},\; \v{I}\,\v{B}\right)",
    symbols={"A": ("A", "attainable rate")}
    | {key: RIDGE.symbols[key] for key in ("F", "B")}
    | {"I": INTENSITY.symbols["I"]},
    sources=("williams2009",),
    title="Attainable rate (roofline)",
)


def attainable(peak: FlopRate, bandwidth: Bandwidth, operations_per_byte: Intensity) -> FlopRate:
    """Return the highest rate that peak and memory allow. Williams et al. 2009.

    Limit: operations and transfers overlap, and neither has a start-up cost.
    """
    return min(peak, operations_per_byte * bandwidth)


@dataclass(frozen=True, slots=True)
class Roof:
    """The roof of a GPU: its peak rate, and the bandwidth of its memory."""

    peak: FlopRate
    bandwidth: Bandwidth

    @property
    def ridge(self) -> Intensity:
        """The intensity from which computation is the limit."""
        return ridge(self.peak, self.bandwidth)

    def at(self, operations_per_byte: Intensity) -> FlopRate:
        """Return the highest rate at an intensity."""
        return attainable(self.peak, self.bandwidth, operations_per_byte)


PRODUCT_BYTES = Equation(
    name="product_bytes",
    tex=r"\v{Q} = \v{e}\,(\v{m}\,\v{k} + \v{k}\,\v{n}) + \v{o}\,\v{m}\,\v{n}",
    symbols={
        "Q": INTENSITY.symbols["Q"],
        "e": ("e", "bytes of an element of the factors"),
        "o": ("o", "bytes of an element of the result"),
        "m": ("m", "rows"),
        "n": ("n", "columns"),
        "k": ("k", "length of the inner sum"),
    },
    sources=("nvidia_matmul",),
    title="Bytes that a matrix product moves",
)


def product_bytes(rows: Ratio, columns: Ratio, inner: Ratio, element: Bytes, out: Bytes) -> Bytes:
    """Return the bytes of a product if every element is read or written once.

    Source: NVIDIA's guide to matrix multiplication. Limit: the caches hold what tiles share.
    """
    return element * (rows * inner + inner * columns) + out * rows * columns


def product_operations(rows: Ratio, columns: Ratio, inner: Ratio) -> Operations:
    """Return the operations of a product [rows, inner] x [inner, columns]."""
    return MULTIPLY_ADD * rows * columns * inner


def roofline_time(
    operations: Operations, moved: Bytes, peak: FlopRate, bandwidth: Bandwidth
) -> Seconds:
    """Return the shortest time: that of the slower of computation and memory traffic."""
    return max(operations / peak, moved / bandwidth)
