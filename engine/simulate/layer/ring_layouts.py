"""What a ring of keys and values waits for where a sequence is not cut in a zig-zag.

Apart from `context_exchange`: the step time cuts in a zig-zag and needs none of this.
"""

from functools import lru_cache

from engine.core.units import Count, Ratio, Seconds
from engine.simulate.layer.attention_masks import Layout, even_ring_work
from engine.simulate.layer.context_exchange import Both, Ring, even_waits
from engine.simulate.layer.ring_attention import ring_end

# Tokens of a piece when pairs are counted: enough that the diagonal no longer matters.
_FINE: Count = 4096


def ring_waits(ring: Ring, core: Both, layout: Layout, num_buffers: Count = 2) -> Both:
    """Return what the slowest rank of a ring takes beyond `core`, the even share of the attention.

    It is the time for messages, and for the rank that has more to compute than the others.
    """
    if layout == "zigzag" and num_buffers > 1:
        return even_waits(ring, core)
    hops = ring.hop, 2 * ring.hop
    found = [
        ring_end(_timed(layout, ring.steps + 1, each), hop, num_buffers) - each
        for each, hop in zip(core, hops, strict=True)
    ]
    return max(0.0, found[0]), max(0.0, found[1])


def _timed(layout: Layout, ranks: Count, core: Seconds) -> list[list[Seconds]]:
    """Return the seconds [step][rank] of attention, a rank's even share being `core`."""
    return [[core * share for share in step] for step in step_shares(layout, ranks)]


@lru_cache(maxsize=64)
def step_shares(layout: Layout, ranks: Count) -> tuple[tuple[Ratio, ...], ...]:
    """Return the work [step][rank] of a causal ring over a rank's even share of all work."""
    pairs = even_ring_work(layout, ranks, _FINE)
    mean = sum(map(sum, pairs)) / ranks
    return tuple(tuple(count / mean for count in step) for step in pairs)
