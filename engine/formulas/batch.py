"""The largest micro-batch: memory is a straight line in it.

Derived: every tensor of `engine.formulas.activations` is proportional to the sequences of a
micro-batch, and nothing else depends on them.
"""

import math

from engine.core.equation import Equation
from engine.core.units import Bytes, Count, Ratio, Share

LARGEST_BATCH = Equation(
    name="largest_batch",
    tex=(
        r"\v{b} = \max\left(0,\; \left\lfloor"
        r" \frac{(1 - \v{u})\,\v{C} - \v{M0}}{\v{M1}} \right\rfloor\right)"
    ),
    symbols={
        "b": (r"b_{\max}", "largest micro-batch, sequences"),
        "u": ("u", "share of the memory left free"),
        "C": ("C", "memory that programs can allocate on the GPU"),
        "M0": ("M_0", "what does not depend on the micro-batch"),
        "M1": ("M_1", "what each sequence adds"),
    },
    title="Largest micro-batch that fits",
)


def batch_room(usable: Bytes, fixed: Bytes, per_sequence: Bytes) -> Ratio:
    """Return how many sequences the free memory is worth; below zero the states do not fit.

    Limit: one shape for all sequences.
    """
    return (usable - fixed) / per_sequence


def largest_batch(room: Ratio) -> Count:
    """Return the largest whole micro-batch in that room; 0 if not even one sequence fits."""
    return max(0, math.floor(room))


USABLE_MEMORY = Equation(
    name="usable_memory",
    tex=r"\v{U} = (1 - \v{u})\,\v{C}",
    symbols={"U": ("U", "memory that a process may fill")}
    | {key: LARGEST_BATCH.symbols[key] for key in ("u", "C")},
    title="Memory that a process may fill",
)


def usable_memory(device: Bytes, kept_free: Share) -> Bytes:
    """Return the memory that a process should fill at most: the GPU's, less a free share.

    A planning value: predicted peaks err by some percent.
    """
    return (1 - kept_free) * device


MEMORY_LINE = Equation(
    name="memory_of_batch",
    tex=r"\v{M} = \v{M0} + \v{b}\,\v{M1}",
    symbols={
        "M": ("M", "memory of the fullest GPU"),
        "M0": LARGEST_BATCH.symbols["M0"],
        "M1": LARGEST_BATCH.symbols["M1"],
        "b": ("b", "sequences of a micro-batch"),
    },
    title="Memory as a line in the micro-batch",
)


def memory_of_batch(batch: Ratio, fixed: Bytes, per_sequence: Bytes) -> Bytes:
    """Return the memory of the fullest GPU with so many sequences, whole or not."""
    return fixed + batch * per_sequence
