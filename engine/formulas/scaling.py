"""A data-parallel step in three versions, and how well it scales."""

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, FlopRate, Operations, Ratio, Seconds, Share, Tokens

BACKWARD: Operations = 4.0  # per parameter and token

_SYMBOLS = {
    "Ts": (r"T_{\mathrm{step}}", "step"),
    "Tc": (r"T_{\mathrm{comp}}", "computation"),
    "Tf": (r"T_{\mathrm{fwd}}", "forward pass"),
    "Tb": (r"T_{\mathrm{bwd}}", "backward pass"),
    "Tm": (r"T_{\mathrm{comm}}", "all-reduce, alone"),
    "Te": (r"T_{\mathrm{exposed}}", "communication that the step waits for"),
    "Tr": (r"T_{\mathrm{run}}", "time of a step on the wall clock"),
    "m": ("m", "slowest of n over the mean"),
    "g": (r"\eta", "share of the time spent on work that lasts"),
    "F": ("F", "operations per second that a GPU reaches"),
    "W": ("W", "bus bandwidth of the all-reduce"),
    "t": ("t", "tokens per GPU and step"),
    "b": ("b", "bytes of a gradient on the wire"),
    "q": ("q", "efficiency"),
}


def _symbols(keys: str) -> dict[str, tuple[str, str]]:
    return {key: _SYMBOLS[key] for key in keys.split()}


BLOCKING_STEP = Equation(
    name="blocking_step",
    tex=r"\v{Ts} = \v{Tc} + \v{Tm}",
    symbols=_symbols("Ts Tc Tm"),
    title="Step with an all-reduce that hides nothing",
)


def blocking_step(compute: Seconds, communication: Seconds) -> Seconds:
    """Return the step if the all-reduce waits for the computation: one after the other."""
    return compute + communication


REAL_STEP = Equation(
    name="real_step",
    tex=r"\v{Tr} = \frac{\v{m}\,\v{Tc} + \v{Te}}{\v{g}}",
    symbols=_symbols("Tr m Tc Te g"),
    sources=("david2003", "daly2006"),
    title="Step on the wall clock",
)


def real_step(compute: Seconds, exposed: Seconds, slowest: Ratio, goodput: Share) -> Seconds:
    """Return the wall-clock time of a step: all wait for the slowest, and some work is lost."""
    return (slowest * compute + exposed) / goodput


HIDING_TOKENS = Equation(
    name="hiding_tokens",
    tex=r"\v{t} = \frac{\v{b}}{2}\,\frac{\v{F}}{\v{W}}",
    symbols=_symbols("t b F W"),
    sources=("scaling_book",),
    title="Tokens that hide the all-reduce, from two rates",
)


def hiding_tokens(rate: FlopRate, bandwidth: Bandwidth, gradient: Bytes) -> Tokens:
    """Return a bound of the tokens per GPU from which the backward pass hides an all-reduce.

    The backward pass takes 4 P t / F, the all-reduce of b P bytes over many GPUs 2 b P / W: the
    parameters cancel. F/W for gradients in 16 bits, 2 F/W in fp32. Source: Austin et al. 2025,
    chapter on training, for 16 bits. Limit: no latency, no buckets, the factor (n - 1)/n taken
    as 1, and a rate that does not depend on the tokens.
    """
    return 2 * gradient / BACKWARD * rate / bandwidth


def scaling_efficiency(alone: Seconds, together: Seconds) -> Share:
    """Return how much of its speed a GPU keeps among others, at the same tokens per GPU."""
    return alone / together
