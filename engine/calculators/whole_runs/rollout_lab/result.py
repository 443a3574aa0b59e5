"""The numbers of a simulated step of reinforcement learning."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, cast

from engine.calculators.whole_runs.rollout_lab import curves
from engine.calculators.whole_runs.rollout_lab.curves import step_of
from engine.calculators.whole_runs.rollout_lab.inputs import Inputs, setup_of
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.slices import SlicedRun, Slices, run_to_end, step_progress
from engine.core.units import COUNT, Count, Ratio, Seconds, Share, TokenRate, Tokens
from engine.simulate.job.reinforcement import MODES, RlJob, RlMode, RlStep, rl_fit, rl_memory
from engine.simulate.job.rollouts import response_lengths
from engine.simulate.memory.allocator import MemoryFit

_ASSUMES = (
    "Lengths are lognormal, cut at the longest allowed; responses are dealt to the engines like "
    "cards, and an engine takes the next one when one ends.",
    "Generation and training take what they take on the other pages of this site; the overhead of "
    "an engine between two passes is left out.",
    "Training is FSDP with full recomputation, on packed rows of 16,384 tokens.",
    "One report's steps stand beside it in a table of this page. They are too few for a range, so "
    "it has no range.",
)


def _output(label: str, note: str, color: str = "ink") -> Output:
    return Output(label, "", note, color, _ASSUMES, ("verl2025",), "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the lab."""

    setup: RlJob
    steps: dict[RlMode, RlStep]
    step: Annotated[Seconds, _output("A step", "from one update to the next", "compute")]
    idle: Annotated[Share, _output("Idle", "of all GPU time", "ink")]
    generation: Annotated[
        Seconds,
        _output(
            "Generation", "until the last response is done; of a stream, per step", "communication"
        ),
    ]
    tail: Annotated[
        Seconds,
        _output("Of that, the tail", "after half of the engines are done", "communication"),
    ]
    learning: Annotated[
        Seconds, _output("Log-probabilities and training", "{forwards} before training", "compute")
    ]
    forwards: Seconds
    update: Annotated[Seconds, _output("New weights", "to the engines", "parameters")]
    rate: Annotated[TokenRate, _output("Tokens trained per GPU", "responses only", "compute")]
    stale: Annotated[
        Count, _output("Updates that a response may be behind", "at most", "communication")
    ]
    mean: Annotated[float, COUNT, _output("Mean length", "of {longest_drawn} the longest")]
    longest_drawn: Tokens
    over_mean: Annotated[
        Ratio, _output("The longest over the mean", "of the lengths drawn", "communication")
    ]
    fit: MemoryFit
    held: float
    capacity: float
    tail_curve: SlicedRun[curves.Tail]
    split: SlicedRun[curves.Split]
    survivors: Lazy[tuple[tuple[Seconds, Share], ...]]
    published: Lazy[tuple[curves.Published, ...]]


def solve(inputs: Inputs) -> Result:
    """Simulate the step in every placement."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Simulate the step in every placement."""
    setup = setup_of(inputs)
    plain = Inputs(**{name: getattr(inputs, name) for name in Inputs.__slots__ if name != "mode"})
    steps = {}
    for place, mode in enumerate(MODES, start=1):
        yield step_progress(place, len(MODES), "Placement")
        steps[mode] = step_of(plain, mode)
    own_step = steps[cast("RlMode", inputs.mode)]
    drained = steps["colocated" if inputs.mode == "colocated" else "separate"]
    drawn = response_lengths(setup.request)
    mean = sum(drawn) / len(drawn)
    phases = rl_memory(setup, sleeps=True, offloaded=False)
    fit = rl_fit(phases, setup.cluster.gpu.memory)
    return Result(
        setup=setup,
        steps=steps,
        step=own_step.total,
        idle=own_step.idle,
        generation=own_step.generation,
        tail=own_step.tail,
        learning=own_step.forwards + own_step.training,
        forwards=own_step.forwards,
        update=own_step.update,
        rate=own_step.tokens / own_step.total / setup.world_size,
        stale=own_step.stale,
        mean=mean,
        longest_drawn=float(max(drawn)),
        over_mean=max(drawn) / mean,
        fit=fit,
        held=fit.needed,
        capacity=fit.usable,
        tail_curve=SlicedRun(curves.tail(plain)),
        split=SlicedRun(curves.split(plain, inputs.mode)),
        survivors=Lazy(partial(curves.survivors, drained)),
        published=Lazy(curves.published),
    )
