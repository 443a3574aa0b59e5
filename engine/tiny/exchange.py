"""Messages between ranks, with a count of the numbers that each rank has sent.

Collectives run as the rounds of `engine.collectives`, message by message, on real numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.collectives import ring_all_gather, ring_all_reduce, ring_reduce_scatter
from engine.core.message import Transfer
from engine.core.units import Count
from engine.tiny.matrix import Vector, add_vectors


@dataclass(slots=True)
class Exchange:
    """Messages between `ranks` ranks.

    Attributes:
        ranks: how many there are.
        sent: what was sent ("gradients", "parameters", "activations") -> numbers per rank.
        pairs: (source, target) -> numbers that went from one to the other.
    """

    ranks: Count
    sent: dict[str, list[int]] = field(default_factory=dict)
    pairs: dict[tuple[int, int], int] = field(default_factory=dict)

    def send(self, source: int, target: int, content: Sequence[float], kind: str) -> Vector:
        """Return the content received by `target`; a message to oneself is not counted."""
        if source != target:
            self.count(source, target, len(content), kind)
        return list(content)

    def count(self, source: int, target: int, numbers: Count, kind: str) -> None:
        """Count numbers sent from `source` to `target`."""
        self.sent.setdefault(kind, [0] * self.ranks)[source] += numbers
        self.pairs[source, target] = self.pairs.get((source, target), 0) + numbers

    def all_reduce(self, buffers: Sequence[Sequence[float]], kind: str) -> list[Vector]:
        """Return the sum of all buffers, once for every rank."""
        length = len(buffers[0])
        chunks = self._ring(ring_all_reduce.rounds(self.ranks), self._cut(buffers), kind)
        return [
            [number for chunk in rank_chunks for number in chunk][:length] for rank_chunks in chunks
        ]

    def reduce_scatter(self, buffers: Sequence[Sequence[float]], kind: str) -> list[Vector]:
        """Return for every rank the sum of its own equal part of all buffers, zeros behind it."""
        chunks = self._ring(ring_reduce_scatter.rounds(self.ranks), self._cut(buffers), kind)
        return [rank_chunks[rank] for rank, rank_chunks in enumerate(chunks)]

    def all_gather(self, parts: Sequence[Sequence[float]], kind: str) -> list[Vector]:
        """Return all parts end to end, once for every rank."""
        chunks: list[list[Vector]] = [
            [list(part) if rank == owner else [] for owner in range(self.ranks)]
            for rank, part in enumerate(parts)
        ]
        gathered = self._ring(ring_all_gather.rounds(self.ranks), chunks, kind)
        return [[number for chunk in rank_chunks for number in chunk] for rank_chunks in gathered]

    def largest(self, buffers: Sequence[Sequence[float]], kind: str) -> list[Vector]:
        """Return the element-wise maximum of all buffers, for every rank (a gather, compared)."""
        length = len(buffers[0])
        return [
            [max(whole[i::length]) for i in range(length)]
            for whole in self.all_gather(buffers, kind)
        ]

    def _cut(self, buffers: Sequence[Sequence[float]]) -> list[list[Vector]]:
        """Return every buffer as equal chunks, one per rank, filled up with zeros."""
        each = -(-len(buffers[0]) // self.ranks)
        padding = [0.0] * (each * self.ranks - len(buffers[0]))
        return [
            [[*buffer, *padding][i * each : (i + 1) * each] for i in range(self.ranks)]
            for buffer in buffers
        ]

    def _ring(
        self, rounds: tuple[tuple[Transfer, ...], ...], chunks: list[list[Vector]], kind: str
    ) -> list[list[Vector]]:
        for transfers in rounds:
            leaving = [chunks[transfer.source][transfer.chunk] for transfer in transfers]
            for transfer, content in zip(transfers, leaving, strict=True):
                arrived = self.send(transfer.source, transfer.target, content, kind)
                here = chunks[transfer.target]
                here[transfer.chunk] = (
                    add_vectors(here[transfer.chunk], arrived) if transfer.reduce else arrived
                )
        return chunks


def padded(vector: Sequence[float], ranks: Count) -> Vector:
    """Return the vector filled up with zeros until it splits evenly."""
    return [*vector, *[0.0] * (-len(vector) % ranks)]


def part_of(vector: Sequence[float], rank: int, ranks: Count) -> Vector:
    """Return a rank's equal part of a vector, filled up with zeros."""
    each = -(-len(vector) // ranks)
    return padded(vector, ranks)[rank * each : (rank + 1) * each]
