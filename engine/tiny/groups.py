"""Collectives inside of equal groups of ranks, and across them: sharded here, replicated there.

Group i is the ranks from i times the width on. Every message is counted as one between the ranks
of the whole world, so that what crosses the edge of a node can be told.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.core.units import Count
from engine.tiny.exchange import Exchange
from engine.tiny.matrix import Vector

_Collective = Callable[[Exchange, list[Vector], str], list[Vector]]


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of `width` neighboring ranks of a world, which divides its ranks.

    Attributes:
        world: counts what is sent.
        width: ranks of a group.
    """

    world: Exchange
    width: Count

    def all_gather(self, parts: Sequence[Vector], kind: str) -> list[Vector]:
        """Return the parts of every rank's own group end to end."""
        return self._run(self._inside(), Exchange.all_gather, parts, kind)

    def reduce_scatter(self, buffers: Sequence[Vector], kind: str) -> list[Vector]:
        """Return for every rank its part of the sum over its own group."""
        return self._run(self._inside(), Exchange.reduce_scatter, buffers, kind)

    def sum_across(self, buffers: Sequence[Vector], kind: str) -> list[Vector]:
        """Return for every rank the sum over those with the same place in their groups."""
        places = [list(range(place, self.world.ranks, self.width)) for place in range(self.width)]
        return self._run(places, Exchange.all_reduce, buffers, kind)

    def _inside(self) -> list[list[int]]:
        ranks = range(self.world.ranks)
        return [list(ranks[start : start + self.width]) for start in ranks[:: self.width]]

    def _run(
        self, groups: list[list[int]], run: _Collective, buffers: Sequence[Vector], kind: str
    ) -> list[Vector]:
        outputs: list[Vector] = [[] for _ in buffers]
        for members in groups:
            own = Exchange(len(members))
            results = run(own, [buffers[rank] for rank in members], kind)
            for rank, result in zip(members, results, strict=True):
                outputs[rank] = result
            for (source, target), numbers in own.pairs.items():
                self.world.count(members[source], members[target], numbers, kind)
        return outputs


def numbers_crossing(world: Exchange, gpus_per_node: Count, node: int = 0) -> Count:
    """Return the numbers sent by the ranks of a node to other nodes."""
    return sum(
        numbers
        for (source, target), numbers in world.pairs.items()
        if source // gpus_per_node == node != target // gpus_per_node
    )
