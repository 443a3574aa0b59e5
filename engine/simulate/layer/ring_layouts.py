"""Exposed time of a key-value ring for sequence layouts other than zig-zag.

Apart from `context_exchange`: the step time cuts in a zig-zag and needs none of this.
"""

from functools import lru_cache

from engine.core.units import Count, Ratio, Seconds
from engine.simulate.layer.attention_masks import Layout, even_ring_work
from engine.simulate.layer.context_exchange import PassTimes, Ring, even_waits
from engine.simulate.layer.ring_attention import ring_end

# Tokens of a piece when pairs are counted: enough that the diagonal no longer matters.
_PIECE_TOKENS: Count = 4096


def ring_waits(ring: Ring, core: PassTimes, layout: Layout, num_buffers: Count = 2) -> PassTimes:
    """Return the time of a ring's slowest rank beyond `core`, the even share of the attention.

    It is the time for messages, and for the rank that has more to compute than the others.
    """
    if layout == "zigzag" and num_buffers > 1:
        return even_waits(ring, core)
    hops = ring.hop, 2 * ring.hop
    waits = [
        ring_end(_step_times(layout, ring.steps + 1, even_time), hop, num_buffers) - even_time
        for even_time, hop in zip(core, hops, strict=True)
    ]
    return max(0.0, waits[0]), max(0.0, waits[1])


def _step_times(layout: Layout, ranks: Count, core: Seconds) -> list[list[Seconds]]:
    """Return the attention time [step][rank], for an even share of `core` per rank."""
    return [[core * share for share in step] for step in step_shares(layout, ranks)]


@lru_cache(maxsize=64)
def step_shares(layout: Layout, ranks: Count) -> tuple[tuple[Ratio, ...], ...]:
    """Return the work [step][rank] of a causal ring, relative to the even share of a rank."""
    pairs = even_ring_work(layout, ranks, _PIECE_TOKENS)
    mean = sum(map(sum, pairs)) / ranks
    return tuple(tuple(count / mean for count in step) for step in pairs)
