"""The steps behind the lab's charts: over the spread, over the split, and those published."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import cast

from engine.calculators.whole_runs.rollout_lab.inputs import Inputs, setup_of
from engine.core.inputs import Scalar
from engine.core.record import record
from engine.core.slices import Slices, step_progress
from engine.core.units import Count, Seconds, Share
from engine.simulate.job.reinforcement import RlMode, RlStep, generation_engines, rl_step
from engine.simulate.job.rollouts import InferenceEngine, unfinished_share

MINUTE: Seconds = 60.0
SPREADS = tuple(place * 0.2 for place in range(9))
SPLITS = tuple(0.1 + place * 0.1 for place in range(9))
APART: tuple[RlMode, ...] = ("separate", "one_step_off", "stream")
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
    """Generation time over `SPREADS` on all GPUs: last engine, mean engine, and as set."""

    last: tuple[Seconds, ...]
    even: tuple[Seconds, ...]
    now: Seconds


@record
class Split:
    """Steps over `SPLITS`, by placement; the step of `mode` as set."""

    steps: Mapping[RlMode, tuple[Seconds, ...]]
    mode: RlMode
    now: Seconds


@record
class Published:
    """A published step and its simulation: generation, and training with its preparation."""

    world_size: Count
    measured: tuple[Seconds, Seconds]
    simulated: tuple[Seconds, Seconds]


@lru_cache(maxsize=64)
def step_of(inputs: Inputs, mode: RlMode) -> RlStep:
    """Return the step of a placement; `inputs.mode` is ignored."""
    return rl_step(setup_of(inputs), mode, _engines(inputs, mode != "colocated"))


@lru_cache(maxsize=64)
def _engines(inputs: Inputs, apart: bool) -> tuple[InferenceEngine, ...]:
    return generation_engines(setup_of(inputs), apart=apart)


def tail(plain: Inputs) -> Slices[Tail]:
    """Compute generation time over the length spread at a fixed median."""
    steps = []
    for place, spread in enumerate(SPREADS, start=1):
        yield step_progress(place, len(SPREADS), "Spread")
        steps.append(step_of(replace(plain, spread=spread), "colocated"))
    return Tail(
        last=tuple(step.generation for step in steps),
        even=tuple(
            sum(engine.end for engine in step.engines) / len(step.engines) for step in steps
        ),
        now=step_of(plain, "colocated").generation,
    )


def split(plain: Inputs, shown: str) -> Slices[Split]:
    """Compute step time over the share of generating GPUs, per separate placement."""
    times: dict[RlMode, list[Seconds]] = {mode: [] for mode in APART}
    for place, share in enumerate(SPLITS, start=1):
        yield step_progress(place, len(SPLITS), "Split")
        for mode in APART:
            times[mode].append(step_of(replace(plain, share=share), mode).total)
    mode = cast("RlMode", shown if shown != "colocated" else "one_step_off")
    return Split(
        steps={mode: tuple(steps) for mode, steps in times.items()},
        mode=mode,
        now=step_of(plain, mode).total,
    )


def survivors(step: RlStep) -> tuple[tuple[Seconds, Share], ...]:
    """Return the share of unfinished responses over the generation time."""
    times = (step.generation * place / 40 for place in range(41))
    return tuple((time, unfinished_share(step.engines, time)) for time in times)


def published() -> tuple[Published, ...]:
    """Return the published steps of a job on three clusters."""
    rows = []
    for world_size, *minutes in _STEPS:
        step = step_of(Inputs(world_size=world_size, **JOB), "colocated")  # type: ignore[arg-type]
        rows.append(
            Published(
                world_size=world_size,
                measured=(minutes[0] * MINUTE, minutes[1] * MINUTE),
                simulated=(step.generation, step.forwards + step.training),
            )
        )
    return tuple(rows)
