"""The published closed form of a schedule's idle time, by the name of the schedule."""

from collections.abc import Mapping

from engine.core.equation import Equation
from engine.core.units import Count, Seconds
from engine.formulas import pipeline_idle

# Their idle time has this closed form; what it holds for is in its docstring.
IDLE: Mapping[str, Equation] = {
    "gpipe": pipeline_idle.ONE_F_ONE_B_IDLE,
    "one_f_one_b": pipeline_idle.ONE_F_ONE_B_IDLE,
    "interleaved": pipeline_idle.ONE_F_ONE_B_IDLE,
    "breadth_first": pipeline_idle.ONE_F_ONE_B_IDLE,
    "zb_h1": pipeline_idle.ZB_H1_IDLE,
    "zb_h2": pipeline_idle.ZB_H2_IDLE,
    "dualpipe": pipeline_idle.DUALPIPE_IDLE,
    "dualpipe_v": pipeline_idle.DUALPIPE_V_IDLE,
}


def closed_form_idle(
    schedule: str,
    sizes: tuple[Count, Count, Count],
    passes: tuple[Seconds, Seconds, Seconds],
    pair: Seconds,
) -> Seconds | None:
    """Return the idle time of a rank in a step; None for a schedule without a published form.

    Args:
        schedule: name of its module.
        sizes: stages, micro-batches, and chunks of a rank.
        passes: forward, backward for the inputs, backward for the weights.
        pair: a forward and a whole backward, overlapped.
    """
    (p, m, v), (forward, back, weight) = sizes, passes
    if schedule == "dualpipe":
        return pipeline_idle.dualpipe_idle(p, pair, back + weight, weight)
    if schedule == "dualpipe_v":
        return pipeline_idle.dualpipe_v_idle(p, pair, back + weight, weight)
    if schedule == "zb_h1":
        return pipeline_idle.zb_h1_idle(p, forward, back, weight)
    if schedule == "zb_h2":
        return pipeline_idle.zb_h2_idle(p, forward, back, weight)
    if schedule not in IDLE:
        return None
    return pipeline_idle.one_f_one_b_idle(p, forward, back, weight, v, m)
