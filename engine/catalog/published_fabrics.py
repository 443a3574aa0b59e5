"""Fabrics of vendors' reference designs: nodes, switches, cables."""

from dataclasses import dataclass

from engine.core.units import Bandwidth, Count, Gbit


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFabric:
    """A row of a reference architecture; 8 ports per node, rails, nothing oversubscribed.

    Attributes:
        name: of the design.
        num_nodes: that it connects.
        radix: ports of a switch.
        port: speed of a port, one way.
        leaves, spines, cores: printed switches.
        cables: printed cables between switches.
        source: key of the bibliography.
    """

    name: str
    num_nodes: Count
    radix: Count
    port: Bandwidth
    leaves: Count
    spines: Count
    cores: Count
    cables: Count
    source: str


def _pod(generation: str, num_nodes: Count, counts: tuple[Count, ...]) -> PublishedFabric:
    leaves, spines, cores, cables = counts
    larger = generation == "B300"
    return PublishedFabric(
        name=f"DGX SuperPOD {generation}",
        num_nodes=num_nodes,
        radix=144 if larger else 64,
        port=(800 if larger else 400) * Gbit,
        leaves=leaves,
        spines=spines,
        cores=cores,
        cables=cables,
        source="dgx_superpod" if generation == "H100" else f"dgx_superpod_{generation.lower()}",
    )


PUBLISHED_FABRICS = (
    _pod("H100", 31, (8, 4, 0, 256)),
    _pod("H100", 63, (16, 8, 0, 512)),
    _pod("H100", 95, (24, 16, 0, 768)),
    _pod("H100", 127, (32, 16, 0, 1024)),
    _pod("B200", 256, (64, 32, 0, 2048)),
    _pod("B200", 512, (128, 128, 64, 8192)),
    _pod("B200", 2048, (512, 512, 256, 32_768)),
    _pod("B300", 288, (32, 18, 0, 2304)),
    _pod("B300", 1296, (144, 72, 0, 10_368)),
)
