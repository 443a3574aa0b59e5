"""Inference over several GPUs: weights that are gathered, or activations that are added up.

Letters: P parameters of a layer, n ranks, t tokens of a forward pass, h hidden size, e bytes of an
element.
"""

from engine.core.equation import Equation
from engine.core.units import Bytes, Count, Parameters, Ratio, Tokens

# Attention and feed-forward part each end with an all-reduce (Shoeybi et al. 2019), and a ring
# carries one out in two rounds.
ROUNDS: Count = 4

_SYMBOLS = {
    "Z": ("Z", "sent by each GPU per layer, weights gathered"),
    "A": ("A", "sent by each GPU per layer, activations added up"),
    "P": ("P", "parameters of a layer"),
    "n": ("n", "GPUs"),
    "t": ("t", "tokens of the forward pass"),
    "h": ("h", "hidden size"),
    "e": ("e", "bytes of an element"),
    "r": ("r", "weights over activations"),
    "T": (r"t^{*}", "tokens at which both send the same"),
}


def _symbols(keys: str) -> dict[str, tuple[str, str]]:
    return {key: _SYMBOLS[key] for key in keys}


GATHERED_WEIGHTS = Equation(
    name="gathered_weights",
    tex=r"\v{Z} = \frac{\v{n}-1}{\v{n}}\,\v{P}\,\v{e}",
    symbols=_symbols("ZnPe"),
    sources=("rajbhandari2020",),
    title="Bytes of gathering a layer's weights",
)


def gathered_weights(parameters: Parameters, ranks: Count, element: Bytes) -> Bytes:
    """Return what a GPU sends so that all have a layer's weights: a ring all-gather.

    Source: Rajbhandari et al. 2020, section 7 (stage 3, forward). The tokens play no part.
    """
    return (ranks - 1) / ranks * parameters * element


SUMMED_ACTIVATIONS = Equation(
    name="summed_activations",
    tex=r"\v{A} = \frac{4(\v{n}-1)}{\v{n}}\,\v{t}\,\v{h}\,\v{e}",
    symbols=_symbols("Anthe"),
    sources=("shoeybi2019", "pope2023"),
    title="Bytes of adding up a layer's activations",
)


def summed_activations(tokens: Tokens, hidden_size: Count, ranks: Count, element: Bytes) -> Bytes:
    """Return what a GPU sends for the two all-reduces of a layer, forward: rings.

    Source: Shoeybi et al. 2019; Pope et al. 2023, section 3.2 (weights that stay in place).
    """
    return ROUNDS * (ranks - 1) / ranks * tokens * hidden_size * element


WEIGHTS_OVER_ACTIVATIONS = Equation(
    name="weights_over_activations",
    tex=r"\v{r} = \frac{\v{P}}{4\,\v{t}\,\v{h}}",
    symbols=_symbols("rPth"),
    title="Weights sent over activations sent",
)


def weights_over_activations(parameters: Parameters, tokens: Tokens, hidden_size: Count) -> Ratio:
    """Return the bytes of gathered weights over those of activations: the ranks cancel.

    For one token of Llama 2 7B about 12,352, of Llama 3 70B 26,112.
    """
    return parameters / (ROUNDS * tokens * hidden_size)


EVEN_TOKENS = Equation(
    name="even_tokens",
    tex=r"\v{T} = \frac{\v{P}}{4\,\v{h}}",
    symbols=_symbols("TPh"),
    title="Tokens at which weights and activations send the same",
)


def even_tokens(parameters: Parameters, hidden_size: Count) -> Tokens:
    """Return the tokens of a pass for which both send the same."""
    return parameters / (ROUNDS * hidden_size)
