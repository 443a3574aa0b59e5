"""Closed forms for a GPT as published: its parameters, its operations and its activations.

The engine sums the parts of any model instead; tests hold the sums against these.
"""

from engine.core.equation import Equation
from engine.core.units import Bytes, Count, Operations, Parameters, Ratio, Tokens

MULTIPLY_ADD: Operations = 2.0
FORWARDS_PER_STEP: Ratio = 3.0  # forward, and twice as much backward
HALF: Bytes = 2.0
MASK: Bytes = 1.0  # of a dropout, for each element

GPT_PARAMETERS = Equation(
    name="gpt_parameters",
    tex=(
        r"\v{P} = 12\,\v{l}\,\v{h}^2 \left(1 + \frac{13}{12\,\v{h}}"
        r" + \frac{\v{V} + \v{s}}{12\,\v{l}\,\v{h}}\right)"
    ),
    symbols={
        "P": ("P", "parameters"),
        "l": ("l", "layers"),
        "h": ("h", "hidden size"),
        "V": ("V", "vocabulary"),
        "s": ("s", "positions"),
    },
    sources=("narayanan2021",),
)


def gpt_parameters(
    num_layers: Count, hidden_size: Count, vocab_size: Count, positions: Count
) -> Parameters:
    """Return the parameters of a GPT: Narayanan et al. 2021, equation 2, with tied embeddings.

    The final norm (2h) is left out there.
    """
    layers = 12 * num_layers * hidden_size**2
    return layers + 13 * num_layers * hidden_size + (vocab_size + positions) * hidden_size


PALM_OPERATIONS = Equation(
    name="palm_operations",
    tex=r"\v{C} = 6\,\v{N} + 12\,\v{L}\,\v{H}\,\v{Q}\,\v{T}",
    symbols={
        "C": ("C", "operations per token"),
        "N": ("N", "parameters"),
        "L": ("L", "layers"),
        "H": ("H", "heads"),
        "Q": ("Q", "head size"),
        "T": ("T", "sequence length"),
    },
    sources=("chowdhery2022",),
)


def palm_operations(
    parameters: Parameters, num_layers: Count, hidden_size: Count, sequence_length: Tokens
) -> Operations:
    """Return training operations per token: 6N + 12 L h s (Chowdhery et al. 2022, appendix B)."""
    attention = 2 * MULTIPLY_ADD * num_layers * hidden_size * sequence_length
    return FORWARDS_PER_STEP * (MULTIPLY_ADD * parameters + attention)


MEGATRON_OPERATIONS = Equation(
    name="megatron_operations",
    tex=(
        r"\v{F} = 72\,\v{B}\,\v{s}\,\v{l}\,\v{h}^2"
        r" \left(1 + \frac{\v{s}}{6\v{h}} + \frac{\v{V}}{12\,\v{l}\,\v{h}}\right)"
    ),
    symbols={
        "F": ("F", "operations of a step"),
        "B": ("B", "sequences"),
        "s": ("s", "sequence length"),
        "l": ("l", "layers"),
        "h": ("h", "hidden size"),
        "V": ("V", "vocabulary"),
    },
    sources=("korthikanti2022",),
)


def megatron_operations(
    sequences: Count,
    sequence_length: Tokens,
    num_layers: Count,
    hidden_size: Count,
    vocab_size: Count,
) -> Operations:
    """Return a GPT's operations per step without recomputation: Korthikanti et al. 2022, eq. 7.

    With full recomputation multiply the layers by 4/3 (Narayanan et al. 2021, equation 3).
    """
    layers = 12 * num_layers * hidden_size * (hidden_size + sequence_length / 6)
    products = layers + vocab_size * hidden_size
    return FORWARDS_PER_STEP * MULTIPLY_ADD * sequences * sequence_length * products


KORTHIKANTI = Equation(
    name="korthikanti_activations",
    tex=(
        r"\v{A} = \v{s}\,\v{b}\,\v{h} \left(10 + \frac{24}{\v{t}}"
        r" + 5\,\frac{\v{a}\,\v{s}}{\v{h}\,\v{t}}\right)"
    ),
    symbols={
        "A": ("A", "activations of a layer"),
        "s": ("s", "sequence length"),
        "b": ("b", "sequences of a micro-batch"),
        "h": ("h", "hidden size"),
        "a": ("a", "heads"),
        "t": ("t", "tensor parallel ranks"),
    },
    sources=("korthikanti2022",),
)


def korthikanti_activations(
    tokens: Tokens,
    hidden_size: Count,
    num_attention_heads: Count,
    sequence_length: Tokens,
    tensor_parallel: Count,
) -> Bytes:
    """Return the activations of a GPT layer with tensor parallelism: equation 2.

    Without FlashAttention and without sequence parallelism. Korthikanti et al. 2022.
    """
    scores = 5 * MASK * num_attention_heads * sequence_length / hidden_size
    shared = (4 * HALF + 2 * MASK) + (12 * HALF + scores) / tensor_parallel
    return tokens * hidden_size * shared
