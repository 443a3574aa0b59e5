"""The operations that training spends on one token, and what share of a peak they amount to."""

from engine.catalog.flop_conventions import CONVENTIONS, Counting
from engine.catalog.models import Model, head_size, value_head_size
from engine.core.equation import Equation
from engine.core.units import Count, FlopRate, Operations, Parameters, Share, TokenRate, Tokens
from engine.formulas.operations import MULTIPLY_ADD, attention_operations
from engine.formulas.parameters import active_parameters, matrix_parameters

# Per parameter, and per pair of tokens and element: forward two, backward four.
TRAINING: Operations = 6.0

_SYMBOLS = {
    "C": ("C", "operations per token"),
    "N": ("N", "parameters that are counted"),
    "W": ("w", "heads × (key size + value size), of all layers"),
    "s": ("s", "sequence length"),
    "v": ("v", "share of the pairs that is counted"),
}

TOKEN_OPERATIONS = Equation(
    name="token_operations",
    tex=r"\v{C} = 6\,\v{N} + 6\,\v{W}\,\v{s}\,\v{v}",
    symbols=_SYMBOLS,
    sources=("kaplan2020", "chowdhery2022"),
    title="Operations per token, with attention",
)


def attention_width(model: Model) -> Count:
    """Return heads times the sizes of a key and a value, over all layers: 2 L h for most models."""
    width = head_size(model) + value_head_size(model)
    return model.num_layers * model.num_attention_heads * width


def counted_parameters(model: Model, counting: Counting) -> Parameters:
    """Return the parameters that a formula multiplies by six."""
    embedding = CONVENTIONS[counting].embedding
    return active_parameters(model) if embedding else matrix_parameters(model)


def counted_pairs(counting: Counting) -> Share:
    """Return the share of the query-key pairs that a formula counts."""
    return CONVENTIONS[counting].pairs


def token_operations(model: Model, sequence_length: Tokens, counting: Counting) -> Operations:
    """Return the operations that one token costs, forward and backward, nothing repeated.

    Source: Kaplan et al. 2020 (6N), Chowdhery et al. 2022 (6N + 12 L H Q T). Limit: norms,
    activation functions, softmax and the optimizer are left out, as everywhere.
    """
    pairs = attention_width(model) * sequence_length * counted_pairs(counting)
    if model.mix:
        pairs = attention_operations(model, sequence_length, counted_pairs(counting)) / MULTIPLY_ADD
    return TRAINING * (counted_parameters(model, counting) + pairs)


BREAK_EVEN_LENGTH = Equation(
    name="break_even_length",
    tex=r"\v{E} = \frac{\v{N}}{\v{W}\,\v{v}}",
    symbols={"E": (r"s^{*}", "length at which attention costs as much as the matrices")}
    | {key: _SYMBOLS[key] for key in ("N", "W", "v")},
    sources=("chowdhery2022",),
    title="Length at which attention costs as much as the matrices",
)


def break_even_length(parameters: Parameters, width: Count, pairs: Share) -> Tokens:
    """Return the sequence length at which scores and sums cost as much as all matrices.

    `token_operations` with both terms equal. Limit: every layer attends to the whole sequence.
    """
    return parameters / (width * pairs)


MFU = Equation(
    name="mfu_of_rate",
    tex=r"\v{u} = \frac{\v{C}\,\v{r}}{\v{F}}",
    symbols={
        "u": ("u", "MFU"),
        "C": _SYMBOLS["C"],
        "r": ("r", "tokens per second per GPU"),
        "F": ("F", "peak"),
    },
    sources=("chowdhery2022",),
    title="MFU of a rate",
)
HFU = Equation(
    name="hfu_of_rate",
    tex=r"\v{U} = \frac{(\v{C} + \v{c})\,\v{r}}{\v{F}}",
    symbols={"U": ("U", "HFU"), "c": ("c", "operations repeated, per token")}
    | {key: MFU.symbols[key] for key in ("C", "r", "F")},
    sources=("chowdhery2022",),
    title="HFU of a rate",
    says="The share of a peak that a rate amounts to if repeated operations count as well.",
)


def utilization(operations: Operations, rate: TokenRate, peak: FlopRate) -> Share:
    """Return the share of a peak that so many tokens per second amount to.

    Source: Chowdhery et al. 2022, appendix B: MFU if `operations` are the model's, HFU if
    repeated ones are counted as well.
    """
    return operations * rate / peak


IMPLIED_PEAK = Equation(
    name="implied_peak",
    tex=r"\v{I} = \frac{\v{C}\,\v{r}}{\v{q}}",
    symbols={
        "I": (r"F_{\mathrm{implied}}", "peak that a printed MFU implies"),
        "q": (r"u_{\mathrm{printed}}", "printed MFU"),
    }
    | {key: MFU.symbols[key] for key in ("C", "r")},
    title="Peak that a printed MFU implies",
)


def implied_peak(operations: Operations, rate: TokenRate, printed: Share) -> FlopRate:
    """Return the peak that a printed MFU assumes: the operations done per second, over the MFU."""
    return operations * rate / printed
