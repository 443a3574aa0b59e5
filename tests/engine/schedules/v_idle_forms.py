"""`python -m tests.engine.schedules.v_idle_forms`: prints the table of `engine.formulas.v_idle`.

The order of a schedule is the same for all times of its passes, so its length is the longest of
its chains of passes: a maximum of forms that are linear in the three times. The forms are read off
played steps by differences, and those that the table needs to be within a hundredth of a
micro-batch are kept.
"""

import random
from functools import cache

from engine.simulate.pipeline.pipeline import PipelineTimes, simulate

Times = tuple[float, float, float]
NAMES = {"v-half": "v_half", "v-min": "v_min"}
STAGES = range(2, 17)
_STEP = 1e-5
_MORE = 6  # micro-batches, after which a form is read again: both blocks repeat by then
_WITHIN = 0.01


def played_idle(schedule: str, stages: int, microbatches: int, times: Times) -> float:
    """Return the idle time of a rank in a played step."""
    forward, inputs, weights = times
    passes = PipelineTimes(
        forward=forward, backward_input=inputs, backward_weight=weights, pair=0.0
    )
    run = simulate(NAMES[schedule], stages, microbatches, 2, passes)
    return run.length - min(run.busy)


def drawn_times(count: int, seed: int) -> list[Times]:
    """Return times of passes as runs have them, forward passes of 1."""
    draw = random.Random(seed)
    return [(1.0, draw.uniform(0.6, 4.0), draw.uniform(0.0, 1.3)) for _ in range(count)]


def _form(schedule: str, stages: int, microbatches: int, times: Times) -> Times:
    base = played_idle(schedule, stages, microbatches, times)
    changed = (
        tuple(time + _STEP * (at == moved) for at, time in enumerate(times)) for moved in range(3)
    )
    slopes = (played_idle(schedule, stages, microbatches, one) - base for one in changed)
    first, second, third = (round(2 * slope / _STEP) / 2 for slope in slopes)
    return first, second, third


def _value(form: Times, times: Times) -> float:
    return sum(a * b for a, b in zip(form, times, strict=True))


@cache
def forms(schedule: str, stages: int) -> tuple[tuple[Times, Times], ...]:
    """Return the forms of a schedule: of each micro-batch, and at none."""
    count = 3 * stages + 4
    found: dict[Times, Times] = {}
    samples = [
        (one, played_idle(schedule, stages, count, one))
        for one in (*drawn_times(240, seed=stages), (1.0, 1.0, 1.0))
    ]
    # Where passes are alike, several forms meet: differences there belong to none of them.
    for one, idle in samples[:-1]:
        if all(abs(_value(form, one) - idle) > 1e-6 for form in found):
            form = _form(schedule, stages, count, one)
            later = _form(schedule, stages, count + _MORE, one)
            first, second, third = ((b - a) / _MORE for a, b in zip(form, later, strict=True))
            found[form] = first, second, third
    kept: list[Times] = []

    def missing(tried: list[Times]) -> list[float]:
        return [
            (idle - max(_value(form, one) for form in tried)) / sum(one) for one, idle in samples
        ]

    while not kept or max(missing(kept)) > _WITHIN:
        kept.append(min(found.keys() - set(kept), key=lambda form: sum(missing([*kept, form]))))
    pairs = []
    for form in kept:
        each = found[form]
        first, second, third = (a - count * b for a, b in zip(form, each, strict=True))
        pairs.append((each, (first, second, third)))
    return tuple(sorted(pairs))


def main() -> None:
    """Print a line for each schedule and number of stages; the module breaks long ones."""
    for schedule in NAMES:
        for stages in STAGES:
            numbers = (" ".join(f"{n:g}" for n in (*each, *none)) for each, none in
                       forms(schedule, stages))  # fmt: skip
            print(f"{schedule} {stages}: {', '.join(numbers)}", flush=True)


if __name__ == "__main__":
    main()
