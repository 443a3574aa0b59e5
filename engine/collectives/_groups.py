"""Grouping of a few ranks into nodes, for two-level algorithms in small examples."""

from engine.core.units import Count

LARGEST_GROUP = 4


def group_size(world_size: Count) -> Count:
    """Return the ranks of a node: the largest divisor of at most four that leaves several nodes.

    A prime number of ranks has nodes of one.
    """
    most = min(LARGEST_GROUP, world_size // 2)
    return max((g for g in range(1, most + 1) if world_size % g == 0), default=1)
