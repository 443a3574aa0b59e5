"""The steps behind the lab's charts: over the spread, over the split, and those published."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import cast

from engine.calculators.whole_runs.rollout_lab.inputs import Inputs, setup_of
from engine.core.inputs import Scalar
from engine.core.record import record
from engine.core.slices import Slices, steps_done
from engine.core.units import Count, Seconds, Share
from engine.simulate.job.reinforcement import Mode, RlStep, engines_of, rl_step
from engine.simulate.job.rollouts import Engine, still_running

MINUTE: Seconds = 60.0
SPREADS = tuple(place * 0.2 for place in range(9))
SPLITS = tuple(0.1 + place * 0.1 for place in range(9))
APART: tuple[Mode, ...] = ("separate", "one_step_off", "stream")
# verl's 7B on H20. Median and spread of the lengths are ours: none were published.
JOB: dict[str, Scalar] = {
    "gpu": "H20",
    "prompts": 512,
    "per_prompt": 16,
    "median": 600,
    "spread": 1.2,
    "longest": 28_672,
    "forwards": "1",
}
# GPUs, minutes of the generation, minutes of log-probabilities and training. Source: verl2025.
_STEPS = ((32, 5.95, 6.29), (64, 2.51, 3.39), (128, 2.96, 2.80))


@record
class Tail:
    """Generation over `SPREADS` with all GPUs: of the last engine and the mean one, and as set."""

    last: tuple[Seconds, ...]
    even: tuple[Seconds, ...]
    now: Seconds


@record
class Split:
    """Steps over `SPLITS`, by placement; the step of `mode` as set."""

    steps: Mapping[Mode, tuple[Seconds, ...]]
    mode: Mode
    now: Seconds


@record
class Published:
    """A published step, and the simulated one: generation, and training with what is before it."""

    world_size: Count
    measured: tuple[Seconds, Seconds]
    simulated: tuple[Seconds, Seconds]


@lru_cache(maxsize=64)
def step_of(inputs: Inputs, mode: Mode) -> RlStep:
    """Return the step of one placement; `inputs.mode` does not count."""
    return rl_step(setup_of(inputs), mode, _engines(inputs, mode != "colocated"))


@lru_cache(maxsize=64)
def _engines(inputs: Inputs, apart: bool) -> tuple[Engine, ...]:
    return engines_of(setup_of(inputs), apart=apart)


def tail(plain: Inputs) -> Slices[Tail]:
    """Find the generation over the spread, with the median as it is."""
    found = []
    for place, spread in enumerate(SPREADS, start=1):
        yield steps_done(place, len(SPREADS), "Spread")
        found.append(step_of(replace(plain, spread=spread), "colocated"))
    return Tail(
        last=tuple(one.generation for one in found),
        even=tuple(sum(engine.end for engine in one.engines) / len(one.engines) for one in found),
        now=step_of(plain, "colocated").generation,
    )


def split(plain: Inputs, shown: str) -> Slices[Split]:
    """Find the step over the share of GPUs that generate, in every placement that is apart."""
    found: dict[Mode, list[Seconds]] = {mode: [] for mode in APART}
    for place, share in enumerate(SPLITS, start=1):
        yield steps_done(place, len(SPLITS), "Split")
        for mode in APART:
            found[mode].append(step_of(replace(plain, share=share), mode).total)
    mode = cast("Mode", shown if shown != "colocated" else "one_step_off")
    return Split(
        steps={mode: tuple(steps) for mode, steps in found.items()},
        mode=mode,
        now=step_of(plain, mode).total,
    )


def survivors(step: RlStep) -> tuple[tuple[Seconds, Share], ...]:
    """Return the share of the responses that still run, at times of the generation."""
    times = (step.generation * place / 40 for place in range(41))
    return tuple((time, still_running(step.engines, time)) for time in times)


def published() -> tuple[Published, ...]:
    """Return the published steps of one job on three clusters."""
    rows = []
    for world_size, *minutes in _STEPS:
        found = step_of(Inputs(world_size=world_size, **JOB), "colocated")  # type: ignore[arg-type]
        rows.append(
            Published(
                world_size=world_size,
                measured=(minutes[0] * MINUTE, minutes[1] * MINUTE),
                simulated=(found.generation, found.forwards + found.training),
            )
        )
    return tuple(rows)
