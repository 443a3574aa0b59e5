"""Gradients that travel compressed, and parameters that meet rarely: how many bytes are left."""

from math import floor

from engine.catalog.models import Model, head_size
from engine.core.equation import Equation
from engine.core.units import Bytes, Count, Parameters, Ratio, Share, Tokens
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.parameters import total_parameters

# A break-even that is a whole number is not to be missed by the last bit of a float.
_ROUNDING: Ratio = 1e-12
# A place in a vector of up to 2^32 numbers.
PLACE: Bytes = 4.0

TOP_K_BYTES = Equation(
    name="top_k_bytes_sent",
    tex=r"\v{V} = (\v{n}-1)\,\v{k}\,\v{P}\,(\v{e} + \v{i})",
    symbols={
        "V": ("V", "sent by each GPU in a step"),
        "n": ("n", "GPUs"),
        "k": (r"\kappa", "share of the gradients that is kept"),
        "P": ("P", "parameters"),
        "e": ("e", "bytes of a value"),
        "i": ("i", "bytes of its place"),
    },
    sources=("lin2018", "renggli2019"),
    title="Bytes sent by top-k",
)


def top_k_bytes_sent(kept: Share, parameters: Parameters, value: Bytes, ranks: Count) -> Bytes:
    """Return what a rank sends if every rank keeps different places of its gradient.

    Sums cannot form on the way, so all parts are gathered, a place with each value: on a ring
    every rank passes on all parts but one. Source: Renggli et al. 2019 (sparse all-gather; the
    worst case, in which no two ranks choose one place).
    """
    return (ranks - 1) * kept * parameters * (value + PLACE)


TOP_K_BREAK_EVEN = Equation(
    name="top_k_break_even",
    tex=r"\v{x} = \left\lfloor \frac{2\,\v{d}}{\v{k}\,(\v{e} + \v{i})} \right\rfloor + 1",
    symbols={
        "x": ("n", "GPUs from which on top-k sends more than an all-reduce"),
        "d": ("d", "bytes of a gradient in the all-reduce"),
    }
    | {key: TOP_K_BYTES.symbols[key] for key in ("k", "e", "i")},
    sources=("renggli2019",),
    title="Break-even of top-k",
    says="The fewest ranks on which gathered shares weigh more than a ring all-reduce of all.",
)


def top_k_break_even(kept: Share, dense: Bytes, value: Bytes) -> Ratio:
    """Return the ranks at which a gathered share weighs as much as a ring all-reduce of all.

    (n - 1) k (e + i) = 2 (n - 1)/n d: a hundredth of bf16 values against a bf16 all-reduce breaks
    even at 66.7 ranks. Derived from Renggli et al. 2019 and Patarasuk and Yuan 2009.
    """
    return 2 * dense / (kept * (value + PLACE))


def top_k_sends_more_from(kept: Share, dense: Bytes, value: Bytes) -> Count:
    """Return the fewest ranks on which a gathered share weighs more than the all-reduce of all.

    The first whole number above the break-even; at a break-even that is whole, both send alike.
    """
    return floor(top_k_break_even(kept, dense, value) * (1 + _ROUNDING)) + 1


def matrix_shapes(model: Model) -> tuple[tuple[Count, Count, Count], ...]:
    """Return the weight matrices of a dense transformer as (rows, columns, how many)."""
    hidden, layers = model.hidden_size, model.num_layers
    queries = model.num_attention_heads * head_size(model)
    keys = model.num_key_value_heads * head_size(model)
    inner = (3 if model.mlp == "swiglu" else 2) * layers
    ends = 1 if model.tied_embeddings else 2
    return (
        (hidden, queries, 2 * layers),
        (hidden, keys, 2 * layers),
        (hidden, model.ffn_hidden_size, inner),
        (model.vocab_size, hidden, ends),
    )


LOW_RANK_NUMBERS = Equation(
    name="low_rank_numbers",
    tex=r"\v{F} = \sum_{\text{matrices}} \v{r}\,(\text{rows} + \text{columns}) + \text{vectors}",
    symbols={
        "F": ("F", "numbers of all factors"),
        "r": ("r", "rank"),
    },
    sources=("vogels2019",),
    title="Numbers of low-rank factors",
)


def low_rank_numbers(model: Model, rank: Count) -> Parameters:
    """Return how many numbers the factors of all gradients are; vectors are sent as they are.

    Of a matrix of m x n two factors of r columns, r(m + n), at most the matrix itself. Source:
    Vogels et al. 2019, algorithm 1; PyTorch's hook likewise leaves a matrix whole that would not
    shrink.
    """
    shapes = matrix_shapes(model)
    whole = sum(rows * columns * count for rows, columns, count in shapes)
    factors = sum(
        min(rank * (rows + columns), rows * columns) * count for rows, columns, count in shapes
    )
    return factors + max(0.0, total_parameters(model) - whole)


def low_rank_bytes_sent(model: Model, rank: Count, value: Bytes, ranks: Count) -> Bytes:
    """Return what a rank sends: factors are sums over ranks, so a ring all-reduces them.

    Source: Vogels et al. 2019, section 3.
    """
    return ring_bytes_sent(low_rank_numbers(model, rank) * value, ranks)


LOCAL_BYTES = Equation(
    name="local_bytes_per_token",
    tex=r"\v{b} = \frac{2(\v{n}-1)}{\v{n}}\,\frac{\v{P}\,\v{e}}{\v{H}\,\v{t}}",
    symbols={
        "b": ("b", "sent for each token that a site trains on"),
        "n": ("n", "sites"),
        "P": ("P", "parameters"),
        "e": ("e", "bytes of a number on the wire"),
        "H": ("H", "inner steps between two meetings"),
        "t": ("t", "tokens of a step at one site"),
    },
    sources=("douillard2023",),
    title="Bytes per token with local steps",
)


def local_bytes_per_token(
    parameters: Parameters, value: Bytes, sites: Count, inner_steps: Count, tokens: Tokens
) -> Bytes:
    """Return what a site sends for each of its tokens if all meet after so many steps.

    One all-reduce of what the parameters have moved. Source: Douillard et al. 2023, algorithm 1:
    500 inner steps send 500 times less than a meeting every step.
    """
    return ring_bytes_sent(parameters * value, sites) / (inner_steps * tokens)
