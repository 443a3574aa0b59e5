"""Input fields shared by the NCCL calculators."""

from typing import Annotated

from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number, Unit
from engine.core.text import Text, say
from engine.core.units import BYTES, GB, KB, MB, MICRO, MILLI, SECONDS, SHARE, GiB, KiB, MiB

MESSAGES = Unit(
    " B",
    1.0,
    {"B": 1.0, "KiB": KiB, "MiB": MiB, "GiB": GiB, "kB": KB, "MB": MB, "GB": GB},
    shown=("B", "KiB", "MiB", "GiB"),
    quantity=BYTES,
)
TIMES = Unit(
    " µs",
    MICRO,
    {"µs": MICRO, "us": MICRO, "ms": MILLI, "s": 1.0},
    shown=("µs", "ms", "s"),
    quantity=SECONDS,
)
_NONE = 0.001
SMALLEST, LARGEST = 1 * KiB, 16 * GiB
MACHINES = (
    *("dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "gb200-nvl72", "grand-teton", "p4de"),
    *("p5", "p6-b200"),
)


def size_text(size: float) -> str:
    """Return a size in powers of two: 64 KiB, 16 GiB."""
    unit, unit_size = MESSAGES.of(size)
    return f"{size / unit_size:.4g}{unit}"


def difference_text(difference: float) -> Text:
    """Return a relative difference with its sign, or "none"."""
    if abs(difference) < _NONE:
        return "none"
    sign = "+" if difference >= 0 else "−"
    return say(f"{sign}{{o}}", o=(abs(difference), SHARE))


Message = Annotated[
    float,
    Number(label="Message", unit=MESSAGES, low=SMALLEST, high=LARGEST, scale="log2", symbol="S"),
]
Machine = Annotated[
    str, Choice(label="Machines", options={key: NODES[key].name for key in MACHINES})
]
Nodes = Annotated[int, Number(label="Nodes", low=1, high=1024, scale="log2", whole=True)]
