"""Choices of the tuner in Amazon's NCCL plug-in: algorithm and protocol by size and ranks.

`nccl_tuner_table.tsv` holds the regions of aws-ofi-nccl, `src/tuner/nccl_ofi_regions.cpp` of
2026-08, those of P5 and P5e (EFA v2), P5en (v3) and P6-B200 (v4): transport, GPUs of a node that
take part, operation, "algorithm protocol", and the corners of a polygon, each "bytes@ranks". Its
lines are straight in the logarithms of both. The points up to which the tuner extends a line are
computed here as it does. The first region of several that holds a point is taken; on two nodes, and
where no region holds it, NCCL's own model is.
"""

from collections.abc import Container
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import log2

from engine.catalog.nccl_tuner_table import TEXT
from engine.core.units import Bytes, Count

Corner = tuple[float, float]

# The tuner's stand-in for a size of 0, of which there is no logarithm.
_NEXT_TO_NOTHING = 1e-6


@dataclass(frozen=True, slots=True)
class TunerRegion:
    """A polygon of sizes and ranks (log2 scale), and the tuner's choice inside it."""

    name: str
    corners: tuple[Corner, ...]


def tuner_choice(
    tuner: str, operation: str, size: Bytes, ranks: Count, nodes: Count, among: Container[str]
) -> str:
    """Return the tuner's "algorithm protocol" among the available ones, or an empty text.

    Args:
        tuner: transport whose regions hold; empty: no tuner.
        operation: "all_reduce", "all_gather" or "reduce_scatter".
        size: whole buffer of a rank.
        ranks: of the group.
        nodes: that they spread over.
        among: names of what can run.
    """
    if not tuner or nodes <= 2 or ranks % nodes:
        return ""
    log_size = log2(max(size, _NEXT_TO_NOTHING))
    for name, low, high in _size_intervals(tuner, operation, ranks // nodes, ranks):
        if low <= log_size <= high and name in among:
            return name
    return ""


@cache
def _regions() -> dict[tuple[str, str, str], list[TunerRegion]]:
    regions: dict[tuple[str, str, str], list[TunerRegion]] = {}
    for line in TEXT.splitlines():
        transport, per_node, operation, name, corners = line.split("\t")
        placed = tuple(_corner(text) for text in corners.split())
        regions.setdefault((transport, per_node, operation), []).append(TunerRegion(name, placed))
    return regions


def _corner(text: str) -> Corner:
    size, _, ranks = text.partition("@")
    return log2(float(size) or _NEXT_TO_NOTHING), log2(float(ranks))


@cache
def _size_intervals(
    tuner: str, operation: str, per_node: Count, ranks: Count
) -> tuple[tuple[str, float, float], ...]:
    """Return (choice, low, high) size intervals at one number of ranks, in the tuner's order.

    A point on an edge is inside.
    """
    height = log2(ranks)
    return tuple(
        (region.name, low, high)
        for region in _regions().get((tuner, str(per_node), operation), ())
        for low, high in _crossings(region.corners, height)
    )


def _crossings(corners: tuple[Corner, ...], height: float) -> list[tuple[float, float]]:
    """Return the parts of a line of equal ranks that lie in a polygon, or on its edges."""
    crossed, touched = [], []
    for (left, low), (right, high) in pairwise((*corners, corners[0])):
        if low == high == height:
            touched.append((min(left, right), max(left, right)))
        elif low == height:
            touched.append((left, left))
        if min(low, high) <= height < max(low, high):
            crossed.append(left + (right - left) * (height - low) / (high - low))
    crossed.sort()
    return [*zip(crossed[::2], crossed[1::2], strict=True), *touched]
