"""A GPU of no catalog that published runs were measured on."""

from dataclasses import replace

from engine.catalog.accelerators import ACCELERATORS

# Clocks fall with the square root of the power limit, a middle between the cube root of ideal
# voltage scaling and the proportion of a chip at its lowest voltage.
_POWER = 500 / 700
_FULL = ACCELERATORS["H100-SXM"]

# torchtitan's benchmarks: "default 500 W power limit", 96 GB of HBM2e at 2.4 TB/s (its
# performance.md).
LIMITED_GPU = replace(
    _FULL,
    memory=96e9,
    memory_bandwidth=2.4e12,
    peak={precision: rate * _POWER**0.5 for precision, rate in _FULL.peak.items()},
)
