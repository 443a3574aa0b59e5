"""The numbers of a simulated step of reinforcement learning."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.calculators.whole_runs.rollout_lab import curves
from engine.calculators.whole_runs.rollout_lab.curves import step_of
from engine.calculators.whole_runs.rollout_lab.inputs import Inputs, setup_of
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.slices import Running, Slices, steps_done, whole
from engine.core.units import COUNT, Count, Ratio, Seconds, Share, TokenRate, Tokens
from engine.run.parallelism import Training
from engine.simulate.job.reinforcement import MODES, Mode, RlStep, Setup, rl_memory
from engine.simulate.job.rollouts import lengths
from engine.simulate.memory.allocator import usable

_ASSUMES = (
    "Lengths are lognormal, cut at the longest allowed; responses are dealt to the engines like "
    "cards, and an engine takes the next one when one ends.",
    "Generation and training take what they take on the other pages of this site; the overhead of "
    "an engine between two passes is left out.",
    "Training is FSDP with full recomputation, on packed rows of 16,384 tokens.",
    "One report's steps stand beside it in a table of this page. They are too few for a range, so "
    "it has no range.",
)


def _told(label: str, note: str, color: str = "ink") -> Told:
    return Told(label, "", note, color, _ASSUMES, ("verl2025",), "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the lab."""

    setup: Setup
    steps: dict[Mode, RlStep]
    step: Annotated[Seconds, _told("A step", "from one update to the next", "compute")]
    idle: Annotated[Share, _told("Idle", "of all GPU time", "ink")]
    generation: Annotated[
        Seconds,
        _told(
            "Generation", "until the last response is done; of a stream, per step", "communication"
        ),
    ]
    tail: Annotated[
        Seconds,
        _told("Of that, the tail", "after half of the engines are done", "communication"),
    ]
    learning: Annotated[
        Seconds, _told("Log-probabilities and training", "{forwards} before training", "compute")
    ]
    forwards: Seconds
    update: Annotated[Seconds, _told("New weights", "to the engines", "parameters")]
    rate: Annotated[TokenRate, _told("Tokens trained per GPU", "responses only", "compute")]
    stale: Annotated[
        Count, _told("Updates that a response may be behind", "at most", "communication")
    ]
    mean: Annotated[float, COUNT, _told("Mean length", "of {longest_drawn} the longest")]
    longest_drawn: Tokens
    over_mean: Annotated[
        Ratio, _told("The longest over the mean", "of the lengths drawn", "communication")
    ]
    fits: bool
    held: float
    capacity: float
    tail_curve: Running[curves.Tail]
    split: Running[curves.Split]
    survivors: Later[tuple[tuple[Seconds, Share], ...]]
    published: Later[tuple[curves.Published, ...]]


def solve(inputs: Inputs) -> Result:
    """Simulate the step in every placement."""
    return whole(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Simulate the step in every placement, one after the other."""
    setup = setup_of(inputs)
    plain = Inputs(**{name: getattr(inputs, name) for name in Inputs.__slots__ if name != "mode"})
    steps = {}
    for place, mode in enumerate(MODES, start=1):
        yield steps_done(place, len(MODES), "Placement")
        steps[mode] = step_of(plain, mode)
    found = steps[cast("Mode", inputs.mode)]
    drained = steps["colocated" if inputs.mode == "colocated" else "separate"]
    drawn = lengths(setup.asked)
    mean = sum(drawn) / len(drawn)
    phases = rl_memory(setup, sleeps=True, offloaded=False)
    held = max(phase.total for phase in phases)
    capacity = usable(
        setup.cluster.gpu.memory,
        Training(micro_batch_size=1, global_batch_size=1, sequence_length=1, framework="fsdp"),
    )
    return Result(
        setup=setup,
        steps=steps,
        step=found.total,
        idle=found.idle,
        generation=found.generation,
        tail=found.tail,
        learning=found.forwards + found.training,
        forwards=found.forwards,
        update=found.update,
        rate=found.tokens / found.total / setup.world_size,
        stale=found.stale,
        mean=mean,
        longest_drawn=float(max(drawn)),
        over_mean=max(drawn) / mean,
        fits=held <= capacity or inputs.mode != "colocated",
        held=held,
        capacity=capacity,
        tail_curve=Running(curves.tail(plain)),
        split=Running(curves.split(plain, inputs.mode)),
        survivors=Later(partial(curves.survivors, drained)),
        published=Later(curves.published),
    )
