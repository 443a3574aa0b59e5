"""Pipeline parallelism: bubbles, memory and messages for which a closed form is published.

Letters: p stages, m micro-batches, v chunks per rank; the forward pass, the gradient for the inputs
and the gradient of the weights are times of one rank, with all its layers, on one micro-batch.
`engine.simulate.pipeline.pipeline` gives the same by playing the schedules.
"""

from collections.abc import Mapping
from typing import Annotated

from engine.core.equation import Equation
from engine.core.units import COUNT, Bytes, Count, Ratio, Seconds, Share
from engine.formulas.pipeline_idle import MEANING, waited_chunks

_MEANING: Mapping[str, tuple[str, str]] = {
    **MEANING,
    "r": ("r", "rank, counted from 0"),
    "q": ("q", "bubble as a share of the step"),
    "o": ("o", "bubble over the ideal time"),
    "A": ("A", "micro-batches whose activations a rank holds"),
    "Ts": (r"T_{\mathrm{step}}", "step"),
    "S": ("S", "one message: the activations at a boundary of stages"),
    "V": ("V", "bytes between stages in a step, all ranks together"),
}


def _symbols(keys: str) -> Mapping[str, tuple[str, str]]:
    return {key: _MEANING[key] for key in keys.split()}


BUBBLE_SHARE = Equation(
    name="bubble_share",
    tex=r"\v{q} = \frac{\v{p}-1}{\v{v}\,\v{m} + \v{p} - 1}",
    symbols=_symbols("q p v m"),
    sources=("huang2019", "narayanan2021"),
)


FEW_SHARE = Equation(
    name="bubble_share_few",
    tex=r"\v{q} = \frac{\v{v}(\v{p}-\v{m}) + \v{m} - 1}{\v{v}\,\v{p} + \v{m} - 1}",
    symbols=_symbols("q p m v"),
    title="Pipeline bubble, share of the step (m < p)",
    says="The share of the step that a rank idles with fewer micro-batches than stages.",
)
FEW_OVER_IDEAL = Equation(
    name="bubble_over_ideal_few",
    tex=r"\v{o} = \frac{\v{v}(\v{p}-\v{m}) + \v{m} - 1}{\v{v}\,\v{m}}",
    symbols=_symbols("o p m v"),
    title="Pipeline bubble, over the ideal (m < p)",
    says="The same idle time, with fewer micro-batches than stages, over a step without it.",
)


def bubble_share(pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count = 1) -> Share:
    """Return the share of the step that a rank idles with GPipe, 1F1B or interleaved 1F1B.

    Source: Huang et al. 2019, section 2.3, for one chunk; Narayanan et al. 2021, section 2.2, for
    several, and `waited_chunks` for those with m < p. Limit: stages alike, messages free.
    """
    idle = waited_chunks(pipeline_parallel, num_microbatches, num_chunks)
    return idle / (num_chunks * num_microbatches + idle)


BUBBLE_OVER_IDEAL = Equation(
    name="bubble_over_ideal",
    tex=r"\v{o} = \frac{\v{p}-1}{\v{v}\,\v{m}}",
    symbols=_symbols("o p v m"),
    sources=("narayanan2021",),
)


def bubble_over_ideal(
    pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count = 1
) -> Ratio:
    """Return the idle time of a rank over the time of a step without idling.

    Source: Narayanan et al. 2021, section 2.2. Limits as `bubble_share`.
    """
    idle = waited_chunks(pipeline_parallel, num_microbatches, num_chunks)
    return idle / (num_chunks * num_microbatches)


BUBBLE_CONVERSION = Equation(
    name="bubble_conversion",
    tex=r"\v{q} = \frac{\v{o}}{1 + \v{o}}",
    symbols=_symbols("q o"),
)


def share_of_step(over_ideal: Ratio) -> Share:
    """Return the bubble as a share of the step from the bubble over the ideal time."""
    return over_ideal / (1 + over_ideal)


PIPELINE_STEP = Equation(
    name="pipeline_step",
    tex=r"\v{Ts} = \v{m}\,(\v{F} + \v{I} + \v{W}) + \v{Ti}",
    symbols=_symbols("Ts m F I W Ti"),
    sources=("huang2019",),
)


def pipeline_step(
    num_microbatches: Count,
    forward: Seconds,
    backward_input: Seconds,
    backward_weight: Seconds,
    idle: Seconds,
) -> Seconds:
    """Return the step: what a rank computes and what it idles. Limit: nothing is overlapped."""
    return num_microbatches * (forward + backward_input + backward_weight) + idle


ONE_F_ONE_B_PEAK = Equation(
    name="one_f_one_b_peak",
    tex=r"\v{A} = \min\left(\v{p} - \v{r},\; \v{m}\right)",
    symbols=_symbols("A p r m"),
    sources=("narayanan2021", "korthikanti2022"),
)


def one_f_one_b_peak(rank: Count, pipeline_parallel: Count, num_microbatches: Count) -> Count:
    """Return how many micro-batches' activations a rank holds at most with 1F1B.

    Source: Narayanan et al. 2021, section 2.2.1: at most p, whatever m.
    """
    return max(0, min(pipeline_parallel - rank, num_microbatches))


INTERLEAVED_PEAK = Equation(
    name="interleaved_peak",
    tex=r"\v{A} = \v{p} + \frac{\v{p} - 1 - 2\,\v{r}}{\v{v}}",
    symbols=_symbols("A p r v"),
    sources=("korthikanti2022",),
)


def interleaved_peak(
    rank: Count, pipeline_parallel: Count, num_chunks: Count
) -> Annotated[float, COUNT]:
    """Return the same with interleaved 1F1B; on rank 0 a share of (p − 1)/(p v) more than 1F1B's.

    Source: Korthikanti et al. 2022, section 4.2.3, for rank 0; the order of Narayanan et al. 2021
    for the others. Limit: two micro-batches per stage or more.
    """
    return pipeline_parallel + (pipeline_parallel - 1 - 2 * rank) / num_chunks


PIPELINE_BYTES = Equation(
    name="pipeline_bytes",
    tex=r"\v{V} = 2\,\v{m}\,(\v{v}\,\v{p} - 1)\,\v{S}",
    symbols=_symbols("V m v p S"),
    sources=("narayanan2021",),
)


def pipeline_bytes(
    num_microbatches: Count, pipeline_parallel: Count, message: Bytes, num_chunks: Count = 1
) -> Bytes:
    """Return all bytes between stages in one step: each boundary once ahead and once back.

    Source: Narayanan et al. 2021, section 2.2.2: interleaving multiplies it by v. Limit: chunks in
    a loop; where two stages that follow one another share a rank, nothing is sent.
    """
    return 2 * num_microbatches * (num_chunks * pipeline_parallel - 1) * message


def printed_bubble(num_microbatches: Count) -> Share:
    """Return what a published text calls the bubble: (N - 1)/N. Wrong: stages do not occur in it.

    Source: pingdo_pipeline, kept to be compared.
    """
    return (num_microbatches - 1) / num_microbatches


def printed_step(num_microbatches: Count) -> Ratio:
    """Return the same text's step in passes of one stage: (N - 1)/N of one, and one more."""
    return printed_bubble(num_microbatches) + 1


def ideal_step(pipeline_parallel: Count, num_microbatches: Count) -> Ratio:
    """Return the step of 1F1B in passes of one stage, m + p - 1.

    Source: Narayanan et al. 2021, section 2.2.1. Limit: stages alike, messages free.
    """
    return float(num_microbatches + pipeline_parallel - 1)
