"""Idle time of the pipeline schedules for which a closed form is published.

Letters: p stages, m micro-batches, v chunks per rank; the forward pass, the gradient for the inputs
and the gradient of the weights are times of one rank, with all its layers, on one micro-batch.
`engine.simulate.pipeline.pipeline` gives the same by playing the schedules.
"""

from collections.abc import Mapping

from engine.core.equation import Equation
from engine.core.units import Count, Seconds

MEANING: Mapping[str, tuple[str, str]] = {
    "p": ("p", "stages, one per rank"),
    "m": ("m", "micro-batches in a step"),
    "v": ("v", "chunks of the model per rank"),
    "Ti": (r"T_{\mathrm{idle}}", "idle time of a rank in one step"),
    "F": ("F", "forward pass of a rank, one micro-batch"),
    "I": ("B", "backward pass for the inputs, likewise"),
    "W": ("W", "backward pass for the weights, likewise"),
    "D": ("B", "whole backward pass, likewise"),
    "O": (r"F{\&}B", "a forward and a whole backward pass, overlapped"),
}


def _symbols(keys: str) -> Mapping[str, tuple[str, str]]:
    return {key: MEANING[key] for key in keys.split()}


def waited_chunks(
    pipeline_parallel: Count, num_microbatches: Count, num_chunks: Count = 1
) -> Count:
    """Return for how many chunks, forward and backward, a rank waits in a step.

    p - 1 (Narayanan et al. 2021) holds for one chunk, or for m >= p. With fewer micro-batches than
    stages the first of them is not back when the rank has done the last: each of v chunks waits
    for p - m more, v(p - m) + m - 1 in all. The played schedule gives the same.
    """
    p, m, v = pipeline_parallel, num_microbatches, num_chunks
    return p - 1 if v == 1 or m >= p else v * (p - m) + m - 1


ONE_F_ONE_B_IDLE = Equation(
    name="one_f_one_b_idle",
    tex=r"\v{Ti} = \frac{(\v{p}-1)(\v{F} + \v{I} + \v{W})}{\v{v}}",
    symbols=_symbols("Ti p F I W v"),
    sources=("narayanan2021",),
)


def one_f_one_b_idle(
    pipeline_parallel: Count,
    forward: Seconds,
    backward_input: Seconds,
    backward_weight: Seconds,
    num_chunks: Count = 1,
    num_microbatches: Count = 0,
) -> Seconds:
    """Return the idle time of a rank: GPipe, 1F1B (one chunk), interleaved and breadth-first.

    Source: Narayanan et al. 2021, sections 2.2.1 and 2.2.2; Lamy-Poirier 2023 for breadth-first.
    Limits: stages alike, messages free; of several chunks the equation needs m >= p, and fewer
    micro-batches are counted by `waited_chunks`; 0 stands for enough.
    """
    waited = waited_chunks(pipeline_parallel, num_microbatches or pipeline_parallel, num_chunks)
    return waited * (forward + backward_input + backward_weight) / num_chunks


ZB_H1_IDLE = Equation(
    name="zb_h1_idle",
    tex=r"\v{Ti} = (\v{p}-1)(\v{F} + \v{I} - \v{W})",
    symbols=_symbols("Ti p F I W"),
    sources=("qi2024",),
)


def zb_h1_idle(
    pipeline_parallel: Count, forward: Seconds, backward_input: Seconds, backward_weight: Seconds
) -> Seconds:
    """Return the idle time of a rank with ZB-H1.

    ZB-1p, which a search finds within the same memory, idles as long where all passes take equally
    long (the README of its code).

    Source: Qi et al. 2024, table 2. Limits: stages alike, messages free, W no longer than F, at
    least as many micro-batches as stages.
    """
    return (pipeline_parallel - 1) * (forward + backward_input - backward_weight)


ZB_H2_IDLE = Equation(
    name="zb_h2_idle",
    tex=r"\v{Ti} = (\v{p}-1)(\v{F} + \v{I} - 2\,\v{W})",
    symbols=_symbols("Ti p F I W"),
    sources=("qi2024",),
)


def zb_h2_idle(
    pipeline_parallel: Count, forward: Seconds, backward_input: Seconds, backward_weight: Seconds
) -> Seconds:
    """Return the idle time of a rank with ZB-H2, if no rank waits for the others between steps.

    Source: Qi et al. 2024, table 2. Limits: as `zb_h1_idle`, with 2p - 1 micro-batches
    or more, and 2W no longer than F + B.
    """
    return (pipeline_parallel - 1) * (forward + backward_input - 2 * backward_weight)


DUALPIPE_IDLE = Equation(
    name="dualpipe_idle",
    tex=r"\v{Ti} = \left(\frac{\v{p}}{2}-1\right)(\v{O} + \v{D} - 3\,\v{W})",
    symbols=_symbols("Ti p O D W"),
    sources=("deepseek2024", "dualpipe"),
)


def dualpipe_idle(
    pipeline_parallel: Count, overlapped: Seconds, backward: Seconds, backward_weight: Seconds
) -> Seconds:
    """Return the idle time of a rank with DualPipe; B is the whole backward pass, W included.

    Source: DeepSeek-AI 2024, table 2. Limits: stages alike, messages free, an even number of
    stages, two micro-batches per stage or more. Playing the published order gives the same only
    where F equals the backward pass for the inputs, W is no longer, and overlapping saves nothing;
    otherwise ranks differ, and the formula is near but not exact.
    """
    return (pipeline_parallel / 2 - 1) * (overlapped + backward - 3 * backward_weight)


DUALPIPE_V_IDLE = Equation(
    name="dualpipe_v_idle",
    tex=r"\v{Ti} = \frac{\v{p}-1}{2}\,(\v{O} + \v{D} - 3\,\v{W})",
    symbols=_symbols("Ti p O D W"),
    sources=("dualpipe",),
)


def dualpipe_v_idle(
    pipeline_parallel: Count, overlapped: Seconds, backward: Seconds, backward_weight: Seconds
) -> Seconds:
    """Return the idle time of a rank with DualPipeV.

    p ranks hold 2p stages of half the length, so the formula of DualPipe is taken at 2p with half
    of every time. Source and limits: DualPipe README; p may be odd.
    """
    return (pipeline_parallel - 1) / 2 * (overlapped + backward - 3 * backward_weight)
