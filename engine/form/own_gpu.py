"""Inputs of an accelerator of the reader's own, and the nearest one that could be."""

from typing import Annotated, Protocol

from engine.core.inputs import GBYTES_PER_SECOND, GIGABYTES, TFLOPS, Number
from engine.core.text import Text, say
from engine.core.units import BANDWIDTH, FLOP_RATE, GB, TERA, Bandwidth, Bytes, FlopRate
from engine.run.own_gpu import INTENSITY, PEAK, RANGES, READ, SMALLER

OWN_GPU = "own"
OWN_GPU_NAME = "your own (its figures below)"
_HELP = "Of a GPU of your own."
_MEMORY, _BANDWIDTH = RANGES["memory"], RANGES["memory_bandwidth"]

OwnPeak = Annotated[
    float,
    Number(
        label="Own GPU: peak in 16 bits",
        unit=TFLOPS,
        low=PEAK[0],
        high=PEAK[1],
        scale="log",
        help=f"{_HELP} Dense, as the datasheet has it without sparsity.",
        advanced=True,
    ),
]
OwnPeakFp8 = Annotated[
    float,
    Number(
        label="Own GPU: peak in fp8",
        unit=TFLOPS,
        low=0.0,
        high=10_000 * TERA,
        step=1 * TERA,
        help=f"{_HELP} 0: it has no fp8.",
        advanced=True,
    ),
]
OwnMemory = Annotated[
    float,
    Number(
        label="Own GPU: memory",
        unit=GIGABYTES,
        low=_MEMORY[0],
        high=_MEMORY[1],
        scale="log",
        help=_HELP,
        advanced=True,
    ),
]
OwnBandwidth = Annotated[
    float,
    Number(
        label="Own GPU: bandwidth of its memory",
        unit=GBYTES_PER_SECOND,
        low=_BANDWIDTH[0],
        high=_BANDWIDTH[1],
        scale="log",
        help=_HELP,
        advanced=True,
    ),
]
OwnScaleUp = Annotated[
    float,
    Number(
        label="Own GPU: links to the others of its node",
        unit=GBYTES_PER_SECOND,
        low=0.0,
        high=10_000 * GB,
        step=1 * GB,
        help=f"{_HELP} One way, together. 0: PCIe 4 alone.",
        advanced=True,
    ),
]


class OwnGpuInputs(Protocol):
    """Inputs that have the figures of a reader's own accelerator."""

    @property
    def own_peak(self) -> FlopRate:
        """Dense peak in 16 bits."""

    @property
    def own_peak_fp8(self) -> FlopRate:
        """Dense peak in fp8; 0: none."""

    @property
    def own_memory(self) -> Bytes:
        """What programs can allocate."""

    @property
    def own_bandwidth(self) -> Bandwidth:
        """Reads and writes together, of that memory."""

    @property
    def own_scale_up(self) -> Bandwidth:
        """One way, to the other GPUs of the node together; 0: PCIe alone."""


def own_gpu_section(inputs: OwnGpuInputs) -> dict[str, object]:
    """Return the nearest accelerator that could be, as `cluster.gpu` of a run file."""
    memory = inputs.own_memory
    bandwidth = _within(inputs.own_bandwidth, memory / READ[1], memory / READ[0])
    half = _within(inputs.own_peak, INTENSITY[0] * bandwidth, INTENSITY[1] * bandwidth)
    peak = {"bf16": half}
    if inputs.own_peak_fp8:
        peak["fp8"] = _within(inputs.own_peak_fp8, SMALLER[0] * half, SMALLER[1] * half)
    links = 0.0 if inputs.own_scale_up < RANGES["scale_up"][0] else inputs.own_scale_up
    return {
        "peak": peak,
        "memory": memory,
        "memory_bandwidth": bandwidth,
        "scale_up": links,
    }


def own_gpu_changes(inputs: OwnGpuInputs) -> tuple[Text, ...]:
    """Return the changed figures of the reader's accelerator, in sentences."""
    section = own_gpu_section(inputs)
    peak, bandwidth = section["peak"], section["memory_bandwidth"]
    if not isinstance(peak, dict) or not isinstance(bandwidth, float):
        raise TypeError(section)
    changes = [
        (bandwidth, inputs.own_bandwidth, "its memory", BANDWIDTH),
        (peak["bf16"], inputs.own_peak, "its peak in 16 bits", FLOP_RATE),
        (peak.get("fp8", 0.0), inputs.own_peak_fp8, "its peak in fp8", FLOP_RATE),
    ]
    return tuple(
        say(
            f"Computed with {{found}} for {words}: no accelerator has {{given}} beside the rest.",
            found=(found, quantity),
            given=(given, quantity),
        )
        for found, given, words, quantity in changes
        if found != given
    )


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
