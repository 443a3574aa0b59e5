"""How long kernels of one GPU take: matrix products, attention, and passes over memory.

`rate` is what large products reach of the matrix units, `bandwidth` what streaming reaches of the
memory; both are the datasheet's figure times a share of `engine.catalog.constants`.
"""

from math import hypot

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

MULTIPLY_ADD: Operations = 2.0
# One thread block works on a tile of this many elements of the result, the largest tile of the
# libraries for Ampere and Hopper, and half of what a pair of Blackwell's multiprocessors takes.
TILE_ROWS: Count = 128
TILE_COLUMNS: Count = 256
# Of the idle time that whole waves of tiles would leave in the last one, so much remains: the
# library takes smaller tiles or splits the inner sum where the last wave would be thin.
LAST_WAVE: Share = 0.5
# The exponentials of one score cost the matrix units as much as this many elements of a head.
EXPONENTIAL_SIZE: Count = 8
# A causal mask is skipped in whole blocks of this many keys; those on the diagonal are computed.
BLOCK: Tokens = 256.0
QUERIES_PER_BLOCK: Tokens = 128.0
# Operands whose rows are no multiple of 16 bytes (8 elements of 16 bits) miss the matrix units:
# 19.5 instead of 312 TFLOP/s on an A100.
UNALIGNED: Share = 1 / 16
ALIGNMENT: Count = 8
# Batched products of scores reach less than large products: few rows, and one side a head wide.
BATCHED: Share = 0.6

MATMUL = Equation(
    name="matmul_time",
    tex=(
        r"\v{T} = \left(\frac{\v{w} + \lceil \v{w} \rceil}{2}\right)"
        r" \left(\frac{2 \cdot 128 \cdot 256\,\v{k}\,\v{M}}{\v{R}} + \v{f}\right),"
        r"\quad \v{w} = \frac{\v{g}}{\v{M}} \left\lceil \frac{\v{m}}{128} \right\rceil"
        r" \left\lceil \frac{\v{n}}{256} \right\rceil"
    ),
    symbols={
        "T": ("T", "time"),
        "w": ("w", "waves of tiles"),
        "k": ("k", "length of the inner sum"),
        "M": ("M", "multiprocessors"),
        "R": ("R", "rate of large products"),
        "f": (r"t_{\mathrm{fill}}", "time to fill and to empty a tile"),
        "g": ("g", "products in one kernel"),
        "m": ("m", "rows"),
        "n": ("n", "columns"),
    },
    sources=("nvidia_matmul",),
)


def waves(tiles: Ratio, sms: Count) -> Ratio:
    """Return the rounds of tiles that the multiprocessors take, half of a thin last one counted.

    Source: NVIDIA's guide to matrix multiplication (tile and wave quantization).
    """
    full = tiles / sms
    return full + LAST_WAVE * (-(-tiles // sms) - full)


def matmul_time(
    rows: Ratio,
    columns: Ratio,
    inner: Ratio,
    products: Ratio,
    rate: FlopRate,
    sms: Count,
    fill: Seconds,
) -> Seconds:
    """Return the time of equal products [rows, inner] x [inner, columns] in one kernel.

    Tiles round rows and columns up, waves round the number of tiles up, and each tile pays for
    loading its first operands and storing its result.

    Source: NVIDIA's guide to matrix multiplication. Limit: one tile size for every library.
    """
    tiles = products * -(-rows // TILE_ROWS) * -(-columns // TILE_COLUMNS)
    tile = MULTIPLY_ADD * TILE_ROWS * TILE_COLUMNS * inner
    return waves(tiles, sms) * (tile * sms / rate + fill)


GROUPED = Equation(
    name="grouped_matmul_time",
    tex=r"\v{T} = \sqrt{\v{Tm}^2 + \left(\frac{\v{S}}{\v{B}}\right)^2} + \v{g}\,\v{a}",
    symbols={
        "T": ("T", "time"),
        "Tm": (r"T_{\mathrm{mm}}", "time of the products in one kernel"),
        "S": ("S", "bytes of operands and results"),
        "B": ("B", "bandwidth of the memory"),
        "g": ("g", "products of the group"),
        "a": (r"t_{\mathrm{each}}", "time that each product takes beside its work"),
    },
    sources=("simumax",),
    title="Matrix products of many experts in one kernel",
)


def grouped_matmul_time(
    together: Seconds, size: Bytes, bandwidth: Bandwidth, products: Ratio, each: Seconds
) -> Seconds:
    """Return the time of the products of several experts in one grouped kernel.

    `together` is what one kernel would take. Few rows per expert make operands and results (`size`)
    as slow as the arithmetic; both overlap as independent delays do. Each product starts and
    drains by itself, which costs `each`.

    Source: SimuMax's kernels on B200 and A100: mean error 12, 10 and 17 % forward, for inputs and
    for weights. Limit: rows are spread evenly over the experts.
    """
    return hypot(together, size / bandwidth) + products * each


def flash_attention_time(
    heads: Ratio, queries: Tokens, keys: Tokens, head_size: Ratio, rate: FlopRate, sms: Count
) -> Seconds:
    """Return the time of a fused causal attention, forward; `rate` is that of head size 128.

    Scores and weighted sum, of the blocks that the mask leaves. A backward pass has five products
    instead of two: 2.5 times as long at the same rate. `heads` counts those of all sequences.

    Source: Dao 2023 (FlashAttention-2). The exponentials weigh more for small heads.
    """
    pairs = heads * queries * (keys + BLOCK) / 2
    size = (head_size + EXPONENTIAL_SIZE) * 128 / (128 + EXPONENTIAL_SIZE)
    blocks = heads * -(-queries // QUERIES_PER_BLOCK)
    idle = max(1.0, waves(blocks, sms) * sms / blocks)
    return 2 * MULTIPLY_ADD * pairs * size * idle / rate


def unfused_attention_time(
    heads: Ratio, queries: Tokens, keys: Tokens, head_size: Ratio, rate: FlopRate
) -> Seconds:
    """Return the time of the two batched products of an unfused attention, forward.

    All scores are computed, those behind the mask too. A backward pass takes twice as long. The
    passes over the scores in memory come on top.

    Source: Korthikanti et al. 2022 (operations). A head that is no multiple of 8 elements misses
    the matrix units.
    """
    share = UNALIGNED if head_size % ALIGNMENT else BATCHED
    return 2 * MULTIPLY_ADD * heads * queries * keys * head_size / (rate * share)


def pass_time(size: Bytes, bandwidth: Bandwidth) -> Seconds:
    """Return the time to stream `size` bytes, reads and writes together, through the memory."""
    return size / bandwidth
