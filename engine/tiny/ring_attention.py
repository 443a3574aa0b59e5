"""Attention over a ring of ranks: keys and values go around, queries stay (Liu et al. 2023).

Backward, keys and values go around once more, and with them the gradients that they collect.
"""

from engine.core.units import Count
from engine.tiny.attention import (
    Attended,
    Heads,
    Place,
    attend,
    attend_backward,
    merge,
    visible,
)
from engine.tiny.exchange import Exchange
from engine.tiny.matrix import Matrix, add, flat, rows_of

Places = list[tuple[Place, ...]]


def ring_forward(
    heads: list[Heads], places: Places, exchange: Exchange, head: Count
) -> tuple[list[Matrix], list[Matrix]]:
    """Return every rank's result and logarithms; heads[rank] are its own rows."""
    ranks = exchange.ranks
    results: list[Matrix] = []
    logs: list[Matrix] = []
    for rank, own in enumerate(heads):
        result, log = attend(own.query, own, visible(places[rank], places[rank]), head)
        results.append(result)
        logs.append(log)
    blocks = list(heads)
    for step in range(1, ranks):
        blocks = _around(blocks, exchange)
        for rank, own in enumerate(heads):
            seen = visible(places[rank], places[(rank - step) % ranks])
            result, log = attend(own.query, blocks[rank], seen, head)
            results[rank], logs[rank] = merge(results[rank], logs[rank], result, log, head)
    return results, logs


def ring_backward(
    heads: list[Heads], done: list[Attended], places: Places, exchange: Exchange, head: Count
) -> list[Heads]:
    """Return every rank's gradients of its own queries, keys and values.

    The gradients of a rank's keys start at the next rank, the first that a block comes to, and
    are home after as many hops as there are other ranks.
    """
    ranks = exchange.ranks
    found = [
        attend_backward(done[rank], own, visible(places[rank], places[rank]), head)
        for rank, own in enumerate(heads)
    ]
    blocks = list(heads)
    travelling: list[Heads] = []
    for step in range(1, ranks):
        blocks = _around(blocks, exchange)
        if travelling:
            travelling = _around(travelling, exchange)
        for rank in range(ranks):
            seen = visible(places[rank], places[(rank - step) % ranks])
            own = attend_backward(done[rank], blocks[rank], seen, head)
            found[rank] = Heads(
                query=add(found[rank].query, own.query),
                key=found[rank].key,
                value=found[rank].value,
            )
            if step == 1:
                travelling.append(own)
            else:
                travelling[rank] = _added(travelling[rank], own)
    if travelling:
        home = _around(travelling, exchange)
        found = [_added(own, back) for own, back in zip(found, home, strict=True)]
    return found


def _added(own: Heads, other: Heads) -> Heads:
    """Return the keys and values of both added; the queries of the first."""
    return Heads(query=own.query, key=add(own.key, other.key), value=add(own.value, other.value))


def _around(blocks: list[Heads], exchange: Exchange) -> list[Heads]:
    """Return what every rank has after each has passed keys and values to the next."""
    ranks, width = exchange.ranks, len(blocks[0].key[0])
    arrived = []
    for rank in range(ranks):
        source = (rank - 1) % ranks
        block = blocks[source]
        content = exchange.send(source, rank, flat(block.key) + flat(block.value), "activations")
        half = len(content) // 2
        arrived.append(
            Heads(
                query=[],
                key=rows_of(content[:half], width),
                value=rows_of(content[half:], width),
            )
        )
    return arrived
