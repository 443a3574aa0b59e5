"""Reimplementation of a widely published gradient sync calculator."""

import math

from engine.core.units import Bandwidth, Bytes, Count, GiB, Parameters, Seconds

SOURCE = "pingdo_sync"
# Its formula cannot be recovered from its outputs; it is taken as printed for its defaults.
COMPUTE: Seconds = 3.5e-3


def published_outputs(
    parameters: Parameters, element: Bytes, world_size: Count, bandwidth: Bandwidth
) -> dict[str, str]:
    """Return its outputs, digit by digit; `bandwidth` is of a node's ports, one way."""
    gibibytes = parameters * element / GiB
    gigabytes_per_second = bandwidth / 1e9
    ring = 2 * (world_size - 1) / world_size * gibibytes / gigabytes_per_second
    tree = 2 * gibibytes / gigabytes_per_second
    least = gibibytes * 8 / COMPUTE
    return {
        "gradient": f"{gibibytes:.2f} GB",
        "ring": f"{ring * 1e3:.1f} ms",
        "tree": f"{tree * 1e3:.1f} ms",
        "compute": f"{COMPUTE * 1e3:.1f} ms",
        "step": f"{(ring + COMPUTE) * 1e3:.1f} ms",
        "overhead": f"{ring / (ring + COMPUTE) * 100:.1f} %",
        "efficiency": f"{COMPUTE / (ring + COMPUTE) * 100:.1f} %",
        "bandwidth": f"{least:.0f}+ Gbps",
        "upgrade": f"{math.ceil(least / 100) * 400}G+",
    }
