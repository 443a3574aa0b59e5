"""Context parallelism: how uneven causal attention is cut, and when its ring is hidden."""

from engine.core.equation import Equation
from engine.core.units import (
    Bandwidth,
    Bytes,
    Count,
    FlopRate,
    Operations,
    Ratio,
    Seconds,
    Share,
    Tokens,
)

# Of a query-key pair, per element of a head: score and weighted sum, a multiply and an add each.
PAIR: Operations = 4.0
# What goes round: keys and values.
TENSORS = 2
_MEANING = {
    "c": ("c", "tokens per rank"),
    "F": ("F", "peak of the GPU"),
    "B": ("B", "bandwidth of one hop, one way"),
    "g": ("g", "query heads per key-value head"),
    "e": ("e", "bytes of an element"),
    "v": ("v", "share of the pairs that the mask leaves"),
    "w": (r"h_{\mathrm{kv}}", "key-value heads times head size"),
    "h": ("h", "query heads times head size"),
    "V": ("V", "bytes of one ring step"),
    "M": ("M", "buffers"),
    "b": ("b", "blocks held at a time"),
    "N": ("N", "ranks"),
    "r": ("r", "most work over mean work"),
    "q": ("q", "share of all work"),
    "T": ("T", "time"),
}


def _symbols(keys: str) -> dict[str, tuple[str, str]]:
    return {key: _MEANING[key] for key in keys}


CONTIGUOUS_IMBALANCE = Equation(
    name="contiguous_imbalance",
    tex=r"\v{r} = \frac{2\,\v{N} - 1}{\v{N}}",
    symbols=_symbols("rN"),
    sources=("liu2023", "brandon2023"),
    title="Imbalance of contiguous pieces under a causal mask",
)


def contiguous_imbalance(world_size: Count) -> Ratio:
    """Return the last rank's work over the mean, contiguous pieces of a long causal sequence.

    With N pieces the last sees N - 1 of them in full and half of its own, of N^2/2 in all.
    Derived; Brandon et al. 2023 describe the imbalance.
    """
    return (2 * world_size - 1) / world_size


CONTIGUOUS_SHARE = Equation(
    name="contiguous_share",
    tex=r"\v{q} = \frac{2\,\v{N} - 1}{\v{N}^2}",
    symbols=_symbols("qN"),
    sources=("brandon2023",),
    title="Share of the work that the last rank has",
)


def contiguous_share(world_size: Count) -> Share:
    """Return the share of all work that the last of N contiguous pieces does: 7/16 for four."""
    return (2 * world_size - 1) / world_size**2


RING_STEP_BYTES = Equation(
    name="ring_step_bytes",
    tex=r"\v{V} = 2\,\v{c}\,\v{w}\,\v{e}",
    symbols=_symbols("Vcwe"),
    sources=("liu2023",),
    title="Bytes of one step of ring attention",
)


def ring_step_bytes(tokens: Tokens, key_value_width: Count, element: Bytes) -> Bytes:
    """Return what a rank sends per step of the ring: the keys and values of its tokens.

    Source: Liu et al. 2023, section 3. Forward; backward their gradients go round as well.
    """
    return TENSORS * tokens * key_value_width * element


RING_STEP_TIME = Equation(
    name="ring_step_time",
    tex=r"\v{T} = \frac{4\,\v{v}\,\v{c}^2\,\v{h}}{\v{F}}",
    symbols=_symbols("TvchF"),
    sources=("liu2023",),
    title="Computation of one step of ring attention",
)


def ring_step_time(tokens: Tokens, width: Count, peak: FlopRate, visible: Share = 1.0) -> Seconds:
    """Return the attention of queries to as many keys, of which the visible share is computed.

    Source: Liu et al. 2023, section 3: 4 d c^2 operations. Forward, at the full peak.
    """
    return PAIR * visible * tokens**2 * width / peak


OVERLAP_TOKENS = Equation(
    name="overlap_tokens",
    tex=r"\v{c} = \frac{\v{e}\,\v{F}}{2\,\v{v}\,\v{B}\,\v{g}}",
    symbols=_symbols("ceFvBg"),
    sources=("liu2023",),
    title="Tokens per rank that hide a step of ring attention",
)


def overlap_tokens(
    peak: FlopRate,
    bandwidth: Bandwidth,
    query_group: Ratio = 1.0,
    element: Bytes = 2.0,
    visible: Share = 1.0,
) -> Tokens:
    """Return the tokens per rank from which a ring step computes as long as the next block travels.

    In 16 bits, unmasked, it is F/B: Liu et al. 2023, section 3. With grouped queries a block is
    `query_group` times smaller, and so is the threshold. A causal mask in zig-zag or stripes
    leaves half of the pairs of a step, which doubles it.
    """
    return TENSORS * element * peak / (PAIR * visible * bandwidth * query_group)


RING_BUFFER = Equation(
    name="ring_buffer",
    tex=r"\v{M} = 2\,\v{b}\,\v{c}\,\v{w}\,\v{e}",
    symbols=_symbols("Mbcwe"),
    sources=("liu2023",),
    title="Buffers of ring attention",
)


def ring_buffer(
    tokens: Tokens, key_value_width: Count, element: Bytes, num_buffers: Count
) -> Bytes:
    """Return the memory of so many blocks of keys and values; a double buffer has two.

    Source: Liu et al. 2023, section 3. For one layer, which is all that goes round at a time.
    """
    return num_buffers * ring_step_bytes(tokens, key_value_width, element)
