"""Timings that the engine's own formulas give for known constants: to try a fit on, marked as such.

Chance is a fixed row of factors, so that the text is the same every time.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import cycle

from engine.catalog.accelerators import ACCELERATORS, Gpu
from engine.catalog.constants import AchievedShares, achieved_shares
from engine.core.units import MICRO, Ratio, Seconds
from engine.formulas.compute import flash_attention_time, matmul_time
from engine.run.logs.calibration import FORMAT, VERSION, TimedCollective
from engine.run.parallelism import Cluster
from engine.simulate.layer.layer_time import ATTENTION_BACKWARD
from engine.simulate.measured.calibration import UNDER_POWER, collective_time

# A cluster that is slower than the catalog's in its network and products, and faster in nothing.
KNOWN_CONSTANTS = replace(
    achieved_shares(ACCELERATORS["H100-SXM"]),
    matmul=0.64,
    matmul_fp8=0.58,
    attention_forward=0.55,
    attention_backward=0.42,
    fill=4.2 * MICRO,
    memory=0.86,
    scale_up=0.80,
    network=0.71,
)
SYNTHETIC_CLUSTER = Cluster(
    gpu=ACCELERATORS["H100-SXM"], gpus_per_node=8, nics_per_node=8, nic_bandwidth=5e10
)
_SHAPES = (
    *((8192, 8192, 8192), (4096, 4096, 4096), (2048, 2048, 2048), (1024, 1024, 1024)),
    *((8192, 28_672, 4096), (4096, 14_336, 4096), (4096, 4096, 14_336), (8192, 1024, 8192)),
    *((2048, 10_240, 8192), (16_384, 4096, 1024), (4096, 4096, 512), (16_384, 8192, 2048)),
)
_SCATTER: tuple[Ratio, ...] = (1.012, 0.985, 1.003, 1.021, 0.991, 0.978, 1.008, 1.002, 0.996)
_NONE: tuple[Ratio, ...] = (1.0,)
_LAUNCH: Seconds = 4 * MICRO
_Row = tuple[str | float, ...]


def script_output(
    constants: AchievedShares = KNOWN_CONSTANTS,
    cluster: Cluster = SYNTHETIC_CLUSTER,
    scatter: tuple[Ratio, ...] = _NONE,
) -> Mapping[str, object]:
    """Return the measuring script's output object for given constants."""
    factors = cycle(scatter)

    def scattered(time: Seconds) -> Seconds:
        return time * next(factors)

    gpu = cluster.gpu
    return {
        "format": FORMAT,
        "version": VERSION,
        "device": "NVIDIA H100 80GB HBM3",
        "ranks": 16,
        "nodes": 2,
        "products": [(*row[:4], scattered(float(row[4]))) for row in _products(constants, gpu)],
        "attention": [
            (*row[:5], scattered(float(row[5])), scattered(float(row[6])))
            for row in _attention(constants, gpu)
        ],
        "copies": [
            (size, scattered(_LAUNCH + size / (constants.memory * gpu.memory_bandwidth)))
            for size in (2 << power for power in range(20, 31))
        ],
        "collectives": [
            (*row[:4], scattered(float(row[4]))) for row in _collectives(constants, cluster)
        ],
    }


def synthetic_text() -> str:
    """Return a script output with a few percent of scatter, as one line of JSON."""
    output = script_output(scatter=_SCATTER)
    rounded = json.loads(json.dumps(output), parse_float=lambda text: float(f"{float(text):.4g}"))
    return json.dumps(rounded) + "\n"


def _products(constants: AchievedShares, gpu: Gpu) -> Iterator[_Row]:
    for precision, share in (("bf16", constants.matmul), ("fp8", constants.matmul_fp8)):
        rate = gpu.peak[precision] * share / UNDER_POWER
        for shape in _SHAPES:
            yield precision, *shape, matmul_time(*shape, 1, rate, gpu.sms, constants.fill)


def _attention(constants: AchievedShares, gpu: Gpu) -> Iterator[_Row]:
    for batch, length in ((4, 2048), (2, 4096), (1, 8192)):
        unit_time = flash_attention_time(batch * 32, length, length, 128, 1.0, gpu.sms)
        peak = gpu.peak["bf16"] / UNDER_POWER
        forward = unit_time / (peak * constants.attention_forward)
        backward = ATTENTION_BACKWARD * unit_time / (peak * constants.attention_backward)
        yield "cudnn", batch, 32, length, 128, forward, backward


def _collectives(constants: AchievedShares, cluster: Cluster) -> Iterator[_Row]:
    for ranks, nodes in ((8, 1), (16, 2)):
        for power in range(12, 31, 2):
            for operation in ("all_reduce", "all_gather", "reduce_scatter"):
                collective = TimedCollective(
                    operation=operation, size=1 << power, ranks=ranks, nodes=nodes, time=1.0
                )
                time = collective_time(collective, cluster, constants)
                yield operation, 1 << power, ranks, nodes, time
