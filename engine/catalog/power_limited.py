"""GPUs under a different power limit, among them one of the published runs."""

from collections.abc import Mapping
from dataclasses import replace

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.core.units import Power

_FULL = ACCELERATORS["H100-SXM"]


def with_power_limit(gpu: Gpu, power: Power) -> Gpu:
    """Return a GPU under a different power limit.

    Clocks fall with the square root of the limit, a middle between the cube root of ideal voltage
    scaling and the proportion of a chip at its lowest voltage. More power makes nothing faster
    than the datasheet.
    """
    slower = min(1.0, power / gpu.power) ** 0.5
    peak = {precision: rate * slower for precision, rate in gpu.peak.items()}
    return replace(gpu, peak=peak, power=power)


# torchtitan's benchmarks: "default 500 W power limit", 96 GB of HBM2e at 2.4 TB/s (its
# performance.md), as a run file says it.
LIMITED_KEYS: Mapping[str, str | float] = {
    "like": "H100-SXM",
    "memory": 96e9,
    "memory_bandwidth": 2.4e12,
    "power_limit": 500.0,
}
LIMITED_GPU = replace(with_power_limit(_FULL, 500.0), memory=96e9, memory_bandwidth=2.4e12)
