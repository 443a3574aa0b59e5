"""Idle time of V-Half and V-Min in a step, as their orders play it.

The order of a schedule does not depend on how long its passes take, so the length of a step is that
of its longest chain of passes: a maximum of forms, linear in the times of the forward pass, of the
backward pass for the inputs and of that for the weights, and in the number of micro-batches. The
table holds the forms of each number of stages, read off the orders of `engine.schedules` by
`tests/engine/schedules/v_idle_forms.py`; no closed form is published.
"""

from functools import cache
from typing import Literal

from engine.core.units import Count, Ratio, Seconds

VShape = Literal["v-half", "v-min"]
# Passes of each kind that a chain adds to a rank's own work: for each micro-batch, and besides.
_Form = tuple[Ratio, Ratio, Ratio, Ratio, Ratio, Ratio]
_TABULATED: Count = 16  # stages
_PERIOD: Count = 6  # stages, after which blocks of both schedules turn alike

_TEXT = """
v-half 2: -1 1 -0.5 2 -1 0, -1 1 -0.5 3.5 -2.5 1.5, 0 0 0 -0.5 1.5 -0.5, 0 0 0 2 -1.5 0
v-half 2: 0 0 0 2 -1 -0.5, 1 -1 -0.5 -2 3 1.5
v-half 3: -1 1 -0.5 3 1 -1, -1 1 -0.5 4 0 0, -1 1 -0.5 4.5 -1 1, 0 0 0 0.5 2 0, 0 0 0 0.5 3 -1
v-half 3: 0 0 0 1 3 -1.5, 0 0 0 3 -0.5 0, 0 0 0 3.5 -0.5 -0.5, 0 0 0 3.5 0.5 -1.5
v-half 3: 1 -1 -0.5 -0.5 4.5 0.5
v-half 4: -1 1 -0.5 4 1 -1, -1 1 -0.5 5 -0.5 0.5, -1 1 -0.5 6.5 -1.5 0.5, 0 0 0 0 4.5 -2
v-half 4: 0 0 0 0.5 4.5 -2.5, 0 0 0 5 -2.5 0, 0 0 0 5.5 -2.5 -0.5, 0 0 0 5.5 -0.5 -2.5
v-half 4: 1 -1 -0.5 -1.5 6.5 1, 1 -1 -0.5 -0.5 5.5 0
v-half 5: -1 1 -0.5 5 3 -1, 0 0 0 1.5 4 0, 0 0 0 1.5 6 -2, 0 0 0 2 6 -2.5, 0 0 0 5 0.5 0
v-half 5: 0 0 0 6.5 0.5 -1.5, 0 0 0 6.5 1.5 -2.5, 1 -1 -0.5 -0.5 7.5 2, 1 -1 -0.5 -0.5 8.5 1
v-half 5: 1 -1 -0.5 0.5 7.5 0
v-half 6: -1 1 -0.5 6 3 -1.5, -1 1 -0.5 7.5 1.5 -0.5, 0 0 0 1 4.5 0, 0 0 0 1 7.5 -3
v-half 6: 0 0 0 1.5 7.5 -3.5, 0 0 0 5.5 0 0, 0 0 0 7.5 0 -2, 0 0 0 7.5 1.5 -3.5
v-half 6: 1 -1 -0.5 -0.5 9.5 0.5, 1 -1 -0.5 0.5 8.5 -0.5
v-half 7: -1 1 -0.5 7 5 -1.5, 0 0 0 2.5 6 0, 0 0 0 2.5 9 -3, 0 0 0 3 9 -3.5, 0 0 0 7.5 1 0
v-half 7: 0 0 0 10 1 -2.5, 0 0 0 10 2 -3.5, 1 -1 -0.5 1 11 1, 1 -1 -0.5 2 10 0
v-half 8: -1 1 -0.5 8 5 -2, -1 1 -0.5 9.5 3.5 -1, -1 1 -0.5 10.5 1.5 1, 0 0 0 1.5 10.5 -3.5
v-half 8: 0 0 0 2 7 -0.5, 0 0 0 2.5 10.5 -4.5, 0 0 0 8.5 0.5 -0.5, 0 0 0 11 0.5 -3, 0 0 0 11 2 -4.5
v-half 8: 1 -1 -0.5 1 12 0.5, 1 -1 -0.5 2 11 -0.5
v-half 9: -1 1 -0.5 9 7 -2, 0 0 0 3.5 8 0, 0 0 0 3.5 12 -4, 0 0 0 4 12 -4.5, 0 0 0 9 2.5 0
v-half 9: 0 0 0 12.5 2.5 -3.5, 0 0 0 12.5 3.5 -4.5, 1 -1 -0.5 2.5 12.5 1.5, 1 -1 -0.5 2.5 13.5 0.5
v-half 9: 1 -1 -0.5 3.5 12.5 -0.5
v-half 10: -1 1 -0.5 10 7 -2.5, -1 1 -0.5 10.5 6.5 -2, -1 1 -0.5 12 5.5 -2.5, -1 1 -0.5 12.5 5 -2
v-half 10: 0 0 0 2.5 13.5 -4.5, 0 0 0 3 8.5 0, 0 0 0 3.5 13.5 -5.5, 0 0 0 4.5 13 -6, 0 0 0 10.5 1 0
v-half 10: 0 0 0 13 4.5 -6, 0 0 0 14.5 1 -4, 0 0 0 14.5 2.5 -5.5, 1 -1 -0.5 1.5 14 2.5
v-half 10: 1 -1 -0.5 1.5 15.5 1, 1 -1 -0.5 2.5 15 -0.5
v-half 11: -1 1 -0.5 11 9 -2.5, -1 1 -0.5 11.5 8 -1.5, -1 1 -0.5 13 7.5 -2.5, 0 0 0 4.5 15 -5
v-half 11: 0 0 0 5 15 -5.5, 0 0 0 6 14.5 -6, 0 0 0 11 3.5 0, 0 0 0 13.5 7 -6, 0 0 0 15.5 3.5 -4.5
v-half 11: 0 0 0 15.5 4.5 -5.5, 1 -1 -0.5 2.5 17.5 1, 1 -1 -0.5 3.5 17 -0.5, 1 -1 -0.5 4 16 0
v-half 12: -1 1 -0.5 12 9 -2.5, -1 1 -0.5 12.5 8.5 -2, -1 1 -0.5 13.5 6.5 0, -1 1 -0.5 14.5 7 -2.5
v-half 12: 0 0 0 2.5 14 -2, 0 0 0 2.5 17.5 -5.5, 0 0 0 3.5 17.5 -6.5, 0 0 0 4 10.5 0
v-half 12: 0 0 0 5.5 16 -7, 0 0 0 12.5 2 0, 0 0 0 13 8.5 -7, 0 0 0 16.5 2 -4, 0 0 0 16.5 4.5 -6.5
v-half 12: 1 -1 -0.5 2.5 18.5 0.5, 1 -1 -0.5 2.5 19 -1.5, 1 -1 -0.5 4.5 16.5 -1.5
v-half 12: 1 -1 -0.5 5 15.5 -1
v-half 13: -1 1 -0.5 13 11 -2.5, -1 1 -0.5 15 9.5 -3, 0 0 0 4.5 19 -6, 0 0 0 5 19 -6.5
v-half 13: 0 0 0 5.5 12 0, 0 0 0 7 17.5 -7, 0 0 0 13.5 4 0, 0 0 0 14 10.5 -7, 0 0 0 19 4 -5.5
v-half 13: 0 0 0 19 5 -6.5, 1 -1 -0.5 4 19 2, 1 -1 -0.5 4 20 1, 1 -1 -0.5 5.5 18 0.5
v-half 13: 1 -1 -0.5 6 18 -1, 1 -1 -0.5 6.5 17 -0.5
v-half 14: -1 1 -0.5 14 11 -3, -1 1 -0.5 14.5 10.5 -2.5, -1 1 -0.5 15.5 8.5 -0.5
v-half 14: -1 1 -0.5 16 9.5 -3.5, 0 0 0 3.5 20.5 -6.5, 0 0 0 4.5 20.5 -7.5, 0 0 0 5 13 -0.5
v-half 14: 0 0 0 6.5 19 -8, 0 0 0 14.5 3.5 -0.5, 0 0 0 17 8.5 -8, 0 0 0 20 3.5 -6, 0 0 0 20 5 -7.5
v-half 14: 1 -1 -0.5 4 21 0.5, 1 -1 -0.5 4.5 21 -1.5, 1 -1 -0.5 6 19 -1.5
v-half 15: -1 1 -0.5 15 13 -3, -1 1 -0.5 17 11.5 -3.5, 0 0 0 5.5 22 -7, 0 0 0 6 22 -7.5
v-half 15: 0 0 0 6.5 14 0, 0 0 0 8 20.5 -8, 0 0 0 15 5.5 0, 0 0 0 18 10.5 -8, 0 0 0 21.5 5.5 -6.5
v-half 15: 0 0 0 21.5 6.5 -7.5, 1 -1 -0.5 5.5 22.5 0.5, 1 -1 -0.5 6 22.5 -1.5
v-half 15: 1 -1 -0.5 7.5 20.5 -1.5
v-half 16: -1 1 -0.5 16 13 -3.5, -1 1 -0.5 16.5 12.5 -3, -1 1 -0.5 17.5 10.5 -1
v-half 16: -1 1 -0.5 18 11.5 -4, 0 0 0 4.5 23.5 -7.5, 0 0 0 4.5 24.5 -9, 0 0 0 5 23.5 -8
v-half 16: 0 0 0 6 14.5 0, 0 0 0 7.5 22 -9, 0 0 0 16.5 4 0, 0 0 0 22 7.5 -9, 0 0 0 23.5 4 -7
v-half 16: 0 0 0 23.5 5.5 -8.5, 1 -1 -0.5 4.5 24.5 1, 1 -1 -0.5 5.5 24 -0.5, 1 -1 -0.5 6.5 23 -1.5
v-half 16: 1 -1 -0.5 9.5 18.5 -1.5
v-min 2: -0.5 1 -0.5 1.5 0 0, 0 0 0 1 0.5 0, 0.5 0.5 -1 0.5 0.5 0.5, 1 -0.5 -0.5 -1 1.5 1
v-min 2: 1 -0.5 -0.5 -0.5 2 0, 1 -0.5 -0.5 -0.5 2.5 -0.5
v-min 3: -1 2 -1 3 -1 0.5, 0 0 0 1 1.5 0, 2 -1 -1 -4 3.5 3, 2 -1 -1 -3.5 3.5 2.5, 2 -1 -1 -3 4 1.5
v-min 3: 2 -1 -1 -3 5 0.5
v-min 4: -1 2 -1 4 1 0.5, 0 0 0 3.5 3 -1, 2 -1 -1 -3 8 0.5, 2 -1 -1 -2.5 6 2, 2 -1 -1 -2 6 1.5
v-min 4: 2 -1 -1 -2 6.5 1
v-min 5: -1 2 -1 5.5 1 1, -1 2 -1 6.5 0.5 0.5, 0 0 0 4.5 4 -1, 2 -1 -1 -4.5 8.5 3.5
v-min 5: 2 -1 -1 -2 7.5 2, 2 -1 -1 -2 9 0.5
v-min 6: -1 2 -1 6 0 2.5, -1 2 -1 6 2 0.5, 0 0 0 2 7.5 -1, 0 0 0 5 4.5 -1, 2 -1 -1 -4 9 3.5
v-min 6: 2 -1 -1 -3 11 0.5, 2 -1 -1 -2 8.5 2, 2 -1 -1 -2 9.5 1
v-min 7: -1 2 -1 7 4 0.5, -1 2 -1 7.5 2.5 1.5, 0 0 0 4.5 8.5 -1.5, 0 0 0 6.5 6.5 -1.5
v-min 7: 2 -1 -1 -3 14 0.5, 2 -1 -1 -0.5 10 2, 2 -1 -1 -0.5 10.5 1.5
v-min 8: -1 2 -1 8.5 4 1, -1 2 -1 9.5 3.5 0.5, 0 0 0 4.5 11.5 -2.5, 0 0 0 9 7 -2.5
v-min 8: 2 -1 -1 -3 11 4.5, 2 -1 -1 -1.5 14.5 0.5, 2 -1 -1 -0.5 12 2, 2 -1 -1 -0.5 13 1
v-min 9: -1 2 -1 9 3 2.5, -1 2 -1 9 5 0.5, 0 0 0 8 8 -1.5, 2 -1 -1 -4 14 4.5, 2 -1 -1 -2.5 16.5 0.5
v-min 9: 2 -1 -1 0 12.5 2, 2 -1 -1 0 13 1.5
v-min 10: -1 2 -1 10 7 0.5, -1 2 -1 10.5 5.5 1.5, 2 -1 -1 -2.5 19.5 0.5, 2 -1 -1 1.5 14.5 1.5
v-min 10: 2 -1 -1 2.5 12.5 2.5, 2 -1 -1 3.5 11.5 1.5
v-min 11: -1 2 -1 11.5 7 1, -1 2 -1 12.5 6.5 0.5, 0 0 0 13 10 -3.5, 0 0 0 14.5 7.5 -3
v-min 11: 2 -1 -1 -1.5 15.5 5, 2 -1 -1 -1 20 0.5, 2 -1 -1 1 14.5 3.5, 2 -1 -1 1.5 16 2
v-min 11: 2 -1 -1 1.5 16.5 1.5
v-min 12: -1 2 -1 12 6 2.5, -1 2 -1 12 8 0.5, 0 0 0 7.5 15 -2, 0 0 0 13.5 9 -2, 2 -1 -1 -2 22 0.5
v-min 12: 2 -1 -1 -0.5 16 5, 2 -1 -1 2 17 1.5, 2 -1 -1 3.5 14.5 2.5, 2 -1 -1 4.5 13.5 1.5
v-min 13: -1 2 -1 13 10 0.5, 0 0 0 10 16 -2.5, 0 0 0 15.5 11 -3, 2 -1 -1 -2.5 25.5 0.5
v-min 13: 2 -1 -1 3 19 1.5, 2 -1 -1 4.5 14.5 3.5, 2 -1 -1 4.5 16.5 2.5, 2 -1 -1 5.5 15.5 1.5
v-min 14: -1 2 -1 14.5 10 1, -1 2 -1 15 8.5 2, -1 2 -1 15.5 9.5 0.5, 0 0 0 9 20.5 -4
v-min 14: 0 0 0 19 10.5 -4, 2 -1 -1 -1 26 0.5, 2 -1 -1 3 21 1.5, 2 -1 -1 3.5 18.5 3.5
v-min 15: -1 2 -1 15 9 2.5, -1 2 -1 15 11 0.5, 0 0 0 9 20.5 -3, 0 0 0 17 12.5 -3, 2 -1 -1 -2 28 0.5
v-min 15: 2 -1 -1 1 20.5 5, 2 -1 -1 3.5 21.5 1.5, 2 -1 -1 5 19 2.5, 2 -1 -1 6 18 1.5
v-min 16: -1 2 -1 16 13 0.5, 0 0 0 12.5 20 -3, 0 0 0 17.5 15 -3, 2 -1 -1 -2 31 0.5
v-min 16: 2 -1 -1 5 23 1.5, 2 -1 -1 6.5 20.5 2.5, 2 -1 -1 7.5 19.5 1.5
"""


def v_idle(
    schedule: VShape,
    pipeline_parallel: Count,
    num_microbatches: Count,
    forward: Seconds,
    backward_input: Seconds,
    backward_weight: Seconds,
) -> Seconds:
    """Return the idle time of a rank in a step of V-Half or V-Min.

    Letters as in `engine.formulas.pipeline_idle`. V-Half waits with every micro-batch if B is
    longer than F + W/2, V-Min if 2B is longer than F + W.

    Source: the schedules of Qi, Wan et al. 2024, played. Limits: stages alike, messages free, F
    from 0.25 to 1.7 of B, W up to 1.3 of F. With 2p micro-batches or more it is within 0.5 % of a
    played step, V-Min from p on within 1.5 % (of two and three stages 12 %); with fewer, V-Half is
    off by up to 16 % of the step. Beyond 16 stages two tabulated numbers are continued.
    """
    p = pipeline_parallel
    if p == 1:
        return 0.0
    m, passes = num_microbatches, (forward, backward_input, backward_weight)
    if p <= _TABULATED:
        return _longest(schedule, p, m, passes)
    beyond = -(-(p - _TABULATED) // _PERIOD)
    near = p - beyond * _PERIOD
    idle = _longest(schedule, near, m, passes)
    return idle + beyond * (idle - _longest(schedule, near - _PERIOD, m, passes))


def _longest(
    schedule: VShape, stages: Count, m: Count, passes: tuple[Seconds, Seconds, Seconds]
) -> Seconds:
    f, b, w = passes
    return max(
        (m * mf + nf) * f + (m * mb + nb) * b + (m * mw + nw) * w
        for mf, mb, mw, nf, nb, nw in _forms()[schedule, stages]
    )


@cache
def _forms() -> dict[tuple[str, Count], tuple[_Form, ...]]:
    """Return the forms of each schedule and number of stages."""
    table: dict[tuple[str, Count], tuple[_Form, ...]] = {}
    for line in _TEXT.strip().splitlines():
        head, _, rows = line.partition(": ")
        schedule, stages = head.split()
        key = schedule, int(stages)
        table[key] = table.get(key, ()) + tuple(map(_form, rows.split(", ")))
    return table


def _form(text: str) -> _Form:
    mf, mb, mw, nf, nb, nw = map(float, text.split())
    return mf, mb, mw, nf, nb, nw
