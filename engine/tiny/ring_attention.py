"""Attention over a ring of ranks: keys and values go around, queries stay (Liu et al. 2023).

Backward, keys and values go around once more, and with them the gradients that they collect.
"""

from engine.core.units import Count
from engine.tiny.attention import (
    AttentionPass,
    Heads,
    Place,
    attend,
    attend_backward,
    merge,
    visible_keys,
)
from engine.tiny.exchange import Exchange
from engine.tiny.matrix import Matrix, add, flatten_rows, split_rows

Places = list[tuple[Place, ...]]


def ring_forward(
    heads: list[Heads], places: Places, exchange: Exchange, head: Count
) -> tuple[list[Matrix], list[Matrix]]:
    """Return every rank's result and logarithms; heads[rank] are its own rows."""
    ranks = exchange.ranks
    results: list[Matrix] = []
    logs: list[Matrix] = []
    for rank, own in enumerate(heads):
        result, log = attend(own.query, own, visible_keys(places[rank], places[rank]), head)
        results.append(result)
        logs.append(log)
    blocks = list(heads)
    for step in range(1, ranks):
        blocks = _pass_around(blocks, exchange)
        for rank, own in enumerate(heads):
            seen = visible_keys(places[rank], places[(rank - step) % ranks])
            result, log = attend(own.query, blocks[rank], seen, head)
            results[rank], logs[rank] = merge(results[rank], logs[rank], result, log, head)
    return results, logs


def ring_backward(
    heads: list[Heads], done: list[AttentionPass], places: Places, exchange: Exchange, head: Count
) -> list[Heads]:
    """Return every rank's gradients of its own queries, keys and values.

    The gradients of a rank's keys start at the next rank, the first that a block comes to, and
    are home after as many hops as there are other ranks.
    """
    ranks = exchange.ranks
    gradients = [
        attend_backward(done[rank], own, visible_keys(places[rank], places[rank]), head)
        for rank, own in enumerate(heads)
    ]
    blocks = list(heads)
    travelling: list[Heads] = []
    for step in range(1, ranks):
        blocks = _pass_around(blocks, exchange)
        if travelling:
            travelling = _pass_around(travelling, exchange)
        for rank in range(ranks):
            seen = visible_keys(places[rank], places[(rank - step) % ranks])
            own = attend_backward(done[rank], blocks[rank], seen, head)
            gradients[rank] = Heads(
                query=add(gradients[rank].query, own.query),
                key=gradients[rank].key,
                value=gradients[rank].value,
            )
            if step == 1:
                travelling.append(own)
            else:
                travelling[rank] = _add_keys_values(travelling[rank], own)
    if travelling:
        home = _pass_around(travelling, exchange)
        gradients = [_add_keys_values(own, back) for own, back in zip(gradients, home, strict=True)]
    return gradients


def _add_keys_values(own: Heads, other: Heads) -> Heads:
    """Return the keys and values of both added; the queries of the first."""
    return Heads(query=own.query, key=add(own.key, other.key), value=add(own.value, other.value))


def _pass_around(blocks: list[Heads], exchange: Exchange) -> list[Heads]:
    """Return the blocks after every rank has passed its keys and values to the next."""
    ranks, width = exchange.ranks, len(blocks[0].key[0])
    arrived = []
    for rank in range(ranks):
        source = (rank - 1) % ranks
        block = blocks[source]
        content = exchange.send(
            source, rank, flatten_rows(block.key) + flatten_rows(block.value), "activations"
        )
        half = len(content) // 2
        arrived.append(
            Heads(
                query=[],
                key=split_rows(content[:half], width),
                value=split_rows(content[half:], width),
            )
        )
    return arrived
