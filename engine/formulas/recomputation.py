"""What recomputation saves and costs: bytes kept, operations repeated, checkpoints on a chain."""

import math

from engine.core.equation import Equation
from engine.core.units import Bytes, Count, Operations, Share

REPEATED_SHARE = Equation(
    name="repeated_share",
    tex=r"\v{x} = \frac{\v{L}\,\v{a}}{3 \left(\v{L}\,\v{f} + \v{o}\right)}",
    symbols={
        "x": ("x", "operations computed again, of those of the step"),
        "L": ("L", "layers"),
        "a": ("a", "operations of a layer that run again"),
        "f": ("f", "operations of a layer's forward pass"),
        "o": ("o", "operations of the output layer's"),
    },
    sources=("chen2016", "korthikanti2022"),
    title="Share of the step that is computed again",
)


def repeated_share(
    num_layers: Count, again: Operations, forward: Operations, output: Operations
) -> Share:
    """Return the operations that run again over those of a step without recomputation.

    A backward pass has two products for each of the forward pass.
    """
    return num_layers * again / (3 * (num_layers * forward + output))


KEPT_BY_LAYERS = Equation(
    name="kept_by_layers",
    tex=r"\v{K} = \v{L}\,\v{k}",
    symbols={
        "K": ("K", "kept by all layers"),
        "L": ("L", "layers"),
        "k": ("k", "kept by one layer"),
    },
    sources=("korthikanti2022",),
    title="Activations kept by all layers",
)


def kept_by_layers(num_layers: Count, kept: Bytes) -> Bytes:
    """Return what all layers keep from the forward to the backward pass."""
    return num_layers * kept


CHECKPOINTS_HELD = Equation(
    name="checkpoints_held",
    tex=r"\v{H} = \left\lceil \frac{\v{L}}{\v{c}} \right\rceil + \v{c} - 1",
    symbols={
        "H": ("H", "layer inputs held at once"),
        "L": ("L", "layers"),
        "c": ("c", "layers from one checkpoint to the next"),
    },
    sources=("chen2016",),
    title="Layer inputs held with evenly spaced checkpoints",
)


def checkpoints_held(num_layers: Count, every: Count) -> Count:
    """Return the most layer inputs held at once: every checkpoint, and the rest of one segment.

    Where the last segment is shorter it is smaller by what is missing, if all others end earlier.
    Chen et al. 2016, section 4.1, whose minimum is near the root of the number of layers.
    """
    return math.ceil(num_layers / every) + every - 1
