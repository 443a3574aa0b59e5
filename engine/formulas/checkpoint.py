"""Bytes that training reads and writes beside its steps: tokens and checkpoints."""

from engine.core.equation import Equation
from engine.core.units import Bandwidth, Bytes, Parameters, Seconds, TokenRate

CHECKPOINT_BYTES = Equation(
    name="checkpoint_bytes",
    tex=r"\v{C} = \v{P}\,\left(\v{w} + \v{o}\right)",
    symbols={
        "C": ("C", "a checkpoint"),
        "P": ("P", "parameters"),
        "w": (r"\beta_{\mathrm{w}}", "bytes of a weight that are saved"),
        "o": (r"\beta_{\mathrm{o}}", "bytes of the optimizer for each parameter"),
    },
    sources=("rajbhandari2020", "dubey2024"),
    title="Size of a checkpoint",
)


def checkpoint_bytes(parameters: Parameters, weight: Bytes, optimizer: Bytes) -> Bytes:
    """Return the bytes of a checkpoint: weights and optimizer states; gradients are made anew.

    405e9 parameters with Adam in mixed precision, 2 + 12 bytes: 5.7 TB. From the states of
    Rajbhandari et al. 2020.
    """
    return parameters * (weight + optimizer)


WRITE_TIME = Equation(
    name="checkpoint_write_time",
    tex=r"\v{Tw} = \max\left(\frac{\v{C}}{\v{S}},\ \frac{\v{c}}{\v{B}}\right)",
    symbols={
        "Tw": (r"T_{\mathrm{w}}", "time to write a checkpoint"),
        "C": ("C", "a checkpoint"),
        "S": ("S", "bandwidth of the storage, all writers together"),
        "c": ("c", "largest part that one node writes"),
        "B": ("B", "bandwidth of a node to the storage"),
    },
    sources=("bytecheckpoint2024",),
    title="Time to write a checkpoint",
)


def write_time(whole: Bytes, storage: Bandwidth, largest: Bytes, node: Bandwidth) -> Seconds:
    """Return the time until a checkpoint is written: the storage's pace, or the fullest node's.

    Model: all nodes write at once, at the rate of the slower of the two; no start, no metadata.
    """
    return max(whole / storage, largest / node)


TOKEN_BYTES = Equation(
    name="token_bytes_rate",
    tex=r"\v{B} = \v{r}\,\v{b}",
    symbols={
        "B": ("B", "bytes that all GPUs read in a second"),
        "r": ("r", "tokens that all GPUs train on in a second"),
        "b": ("b", "bytes of a token"),
    },
    sources=("dubey2024",),
    title="Rate at which training reads tokens",
)


def token_bytes_rate(tokens: TokenRate, token: Bytes) -> Bandwidth:
    """Return what the job reads of tokens in a second: by definition."""
    return tokens * token
