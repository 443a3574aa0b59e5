"""How much a step learns by its batch: the gradient noise scale (McCandlish et al. 2018)."""

import math

from engine.core.equation import Equation
from engine.core.units import Ratio, Share, Tokens

_SYMBOLS = {
    "e": (r"\varepsilon", "progress of a step, of the most that a step can make"),
    "B": ("B", "tokens of a step"),
    "N": (r"B_{\mathrm{noise}}", "noise scale"),
    "S": ("S", "steps"),
    "M": (r"S_{\min}", "steps with an infinite batch"),
    "E": ("E", "tokens in all"),
}


def _some(keys: str) -> dict[str, tuple[str, str]]:
    return {key: _SYMBOLS[key] for key in keys}


PROGRESS = Equation(
    name="batch_progress",
    tex=r"\v{e} = \frac{1}{1 + \v{N}/\v{B}}",
    symbols=_some("eNB"),
    sources=("mccandlish2018",),
    title="Progress of a step, by batch size",
)


def progress(batch: Tokens, noise_scale: Tokens) -> Share:
    """Return the progress of a step over the most possible: equation 2.7 of the paper.

    For the best learning rate at each batch, on a loss that is quadratic over the step.
    """
    return 1 / (1 + noise_scale / batch)


BATCH_STEPS = Equation(
    name="batch_steps",
    tex=r"\v{S} = \v{M} \left(1 + \frac{\v{N}}{\v{B}}\right)",
    symbols=_some("SMNB"),
    sources=("mccandlish2018",),
    title="Steps to a given loss, by batch size",
)


def batch_steps(batch: Tokens, noise_scale: Tokens, least_steps: Ratio) -> Ratio:
    """Return the steps that reach the same loss, while the noise scale stays the same."""
    return least_steps * (1 + noise_scale / batch)


BATCH_TOKENS = Equation(
    name="batch_tokens",
    tex=r"\v{E} = \v{M} \left(\v{N} + \v{B}\right)",
    symbols=_some("EMNB"),
    sources=("mccandlish2018",),
    title="Tokens to a given loss, by batch size",
)


def batch_tokens(batch: Tokens, noise_scale: Tokens, least_steps: Ratio) -> Tokens:
    """Return the tokens that reach the same loss: steps times batch."""
    return least_steps * (noise_scale + batch)


def kaplan_critical_batch(loss: Ratio) -> Tokens:
    """Return the critical batch of a language model by its loss in nats: Kaplan 2020, eq. 1.4.

    Fitted to transformers of up to a billion parameters.
    """
    return float(2e8 / loss ** (1 / 0.21))


CRITICAL_BATCH = Equation(
    name="critical_batch_growth",
    tex=r"\v{B} = \v{A} \left(\frac{\v{D}}{\v{d}}\right)^{\v{x}}",
    symbols={
        "B": (r"B_{\mathrm{crit}}", "critical batch of the run"),
        "A": ("B_0", "critical batch of a measured run"),
        "D": ("D", "tokens of the run"),
        "d": ("D_0", "tokens of the measured run"),
        "x": (r"\alpha", "exponent"),
    },
    sources=("zhang2024", "bergsma2025"),
    title="Critical batch, by the tokens of a run",
)


def critical_batch(tokens: Tokens, measured: Tokens, at: Tokens, exponent: Ratio) -> Tokens:
    """Return the critical batch of a run from that of a run with `at` tokens.

    Zhang et al. 2024: with the data, exponent 0.47, and hardly with the model; Bergsma et al. 2025
    find 0.46. Limit: models of up to 3.3 billion parameters, each token seen once.
    """
    return measured * math.pow(tokens / at, exponent)


# Zhang et al. 2024: the batch that takes a fifth more steps than twice the batch in half the steps
# would; tokens grow in proportion.
CRITICAL_EXCESS: Ratio = 0.2


def tokens_over_least(batch: Tokens, critical: Tokens) -> Ratio:
    """Return the tokens to the same loss over the fewest: 1 + B / B_noise (McCandlish 2018).

    The noise scale follows from the critical batch, at which a fifth more are needed.
    """
    return 1 + CRITICAL_EXCESS * batch / critical


def rescaled_decay(decay: Ratio, factor: Ratio) -> Ratio:
    """Return Adam's decay rate that forgets as many tokens with batches `factor` times as large.

    Marek et al. 2025, section 3: the half-life in tokens stays.
    """
    return float(decay**factor)
