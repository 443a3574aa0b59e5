"""V-shaped pipeline schedules: the activations that they hold at most.

Letters as in `engine.formulas.pipeline`. The unit is the activations of one micro-batch on a rank.
"""

from engine.core.equation import Equation
from engine.core.units import Count

_SYMBOLS = {
    "p": ("p", "stages, one per rank"),
    "A": ("A", "micro-batches whose activations a rank holds"),
}

V_MIN_PEAK = Equation(
    name="v_min_peak",
    tex=r"\v{A} = \lfloor (\v{p}+4)/3 \rfloor",
    symbols=_SYMBOLS,
    sources=("qi2024memory",),
    title="Micro-batches held, V-Min",
)


def v_min_peak(pipeline_parallel: Count) -> Count:
    """Return the micro-batches that a rank of V-Min holds at most: about a third of 1F1B's.

    For enough micro-batches, and passes that all take equally long.
    Source: Qi, Wan et al. 2024, table 1 and the authors' space on Hugging Face.
    """
    return (pipeline_parallel + 4) // 3


V_HALF_PEAK = Equation(
    name="v_half_peak",
    tex=r"\v{A} = \lfloor (\v{p}+2)/2 \rfloor",
    symbols=_SYMBOLS,
    sources=("qi2024memory",),
    title="Micro-batches held, V-Half",
)


def v_half_peak(pipeline_parallel: Count) -> Count:
    """Return the micro-batches that a rank of V-Half holds at most: half of 1F1B's, plus one.

    For enough micro-batches. Source: as V-Min.
    """
    return (pipeline_parallel + 2) // 2
