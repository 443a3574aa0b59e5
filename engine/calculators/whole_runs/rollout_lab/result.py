"""The numbers of a simulated step of reinforcement learning."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated, cast

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.catalog.rollout_steps import FASTEST, ROLLOUT_STEPS, SLOWEST, RolloutStep
from engine.core.inputs import PERCENT, Choice, Number, Scalar
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.record import record
from engine.core.slices import SlicedRun, Slices, run_to_end, step_progress
from engine.core.units import COUNT, Count, Gbit, Ratio, Seconds, Share, TokenRate, Tokens
from engine.form.fields import OwnConstants
from engine.run.parallelism import Cluster
from engine.simulate.job.reinforcement import (
    MODES,
    RlJob,
    RlMode,
    RlStep,
    generation_engines,
    rl_fit,
    rl_memory,
    rl_step,
    with_split,
)
from engine.simulate.job.rollouts import (
    InferenceEngine,
    RolloutRequest,
    response_lengths,
    unfinished_share,
)
from engine.simulate.memory.allocator import MemoryFit

# Inputs of the rollout lab, and the reinforcement-learning job that they describe.

MODE_NAMES: dict[str, str] = {
    "colocated": "same GPUs, one after another",
    "separate": "GPUs apart, in turn",
    "one_step_off": "GPUs apart, one step off",
    "stream": "GPUs apart, a stream",
}
SPREAD = (0.0, 1.6)
SHARE = (0.1, 0.9)
_MODELS = ("qwen2.5-1.5b", "qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b", "llama-3-8b")
_GPUS = ("A100-SXM-80GB", "H20", "H100-SXM", "H200-SXM", "B200")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    mode: Annotated[str, Choice(label="Placement", options=MODE_NAMES)] = "colocated"
    spread: Annotated[
        float,
        Number(
            label="Spread of the lengths",
            low=SPREAD[0],
            high=SPREAD[1],
            step=0.05,
            symbol="s",
            help="Deviation of the logarithm of a length; 0: all responses are equally long.",
        ),
    ] = 1.0
    median: Annotated[
        int,
        Number(label="Median length", low=64, high=16_384, scale="log", whole=True),
    ] = 800
    longest: Annotated[
        int,
        Number(label="Longest allowed", low=512, high=65_536, scale="log2", whole=True),
    ] = 16_384
    world_size: Annotated[
        int, Number(label="GPUs", low=8, high=128, scale="log2", whole=True, symbol="n")
    ] = 32
    share: Annotated[
        float,
        Number(
            label="GPUs that generate",
            unit=PERCENT,
            low=SHARE[0],
            high=SHARE[1],
            step=0.05,
            help="Where the roles are apart; rounded to whole engines.",
        ),
    ] = 0.5
    prompts: Annotated[
        int, Number(label="Prompts per step", low=8, high=512, scale="log2", whole=True)
    ] = 128
    per_prompt: Annotated[
        int, Number(label="Responses per prompt", low=1, high=16, scale="log2", whole=True)
    ] = 8
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "qwen2.5-7b"
    gpu: Annotated[
        str, Choice(label="GPU", options={key: ACCELERATORS[key].name for key in _GPUS})
    ] = "H100-SXM"
    engine: Annotated[
        str,
        Choice(label="GPUs of an engine", options={n: n for n in ("1", "2", "4", "8")}),
    ] = "1"
    forwards: Annotated[
        str,
        Choice(
            label="Passes before training",
            options={
                "1": "old log-probabilities",
                "2": "and a reference model",
                "3": "and a reward model of the same size",
            },
        ),
    ] = "2"
    cache_share: Annotated[
        float,
        Number(
            label="Of a GPU's memory, for the engine",
            unit=PERCENT,
            low=0.3,
            high=0.95,
            step=0.05,
            advanced=True,
            help="vLLM's gpu_memory_utilization, weights included.",
        ),
    ] = 0.6
    seed: Annotated[
        int, Number(label="Random seed", low=1, high=1000, whole=True, advanced=True)
    ] = 1
    own_constants: OwnConstants = ""


def setup_of(inputs: Inputs) -> RlJob:
    """Return the job."""
    cluster = Cluster(
        gpu=ACCELERATORS[inputs.gpu],
        gpus_per_node=8,
        nics_per_node=8,
        nic_bandwidth=400 * Gbit,
        own_constants=parse_constants(inputs.own_constants),
    )
    whole = RlJob(
        model=MODELS[inputs.model],
        cluster=cluster,
        world_size=inputs.world_size,
        generating=inputs.world_size // 2,
        engine=min(int(inputs.engine), inputs.world_size // 2),
        request=RolloutRequest(
            responses=inputs.prompts * inputs.per_prompt,
            per_prompt=inputs.per_prompt,
            prompt=512,
            median=inputs.median,
            spread=inputs.spread,
            longest=inputs.longest,
            seed=inputs.seed,
        ),
        cache_share=inputs.cache_share,
        forwards=int(inputs.forwards),
    )
    return with_split(whole, inputs.share)


# The steps behind the lab's charts: over the spread, over the split, and those published.

MINUTE: Seconds = 60.0
SPREADS = tuple(place * 0.2 for place in range(9))
SPLITS = tuple(0.1 + place * 0.1 for place in range(9))
APART: tuple[RlMode, ...] = ("separate", "one_step_off", "stream")
# verl's 7B on H20. Median and spread of the lengths are ours: none were published. With them, the
# stream's training on 16 and 32 GPUs takes as long as was measured; all other times follow.
JOB: dict[str, Scalar] = {
    "gpu": "H20",
    "prompts": 512,
    "per_prompt": 16,
    "median": 300,
    "spread": 1.3,
    "longest": 28_672,
    "forwards": "1",
}


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
    """A published step and its simulation."""

    measured: RolloutStep
    simulated: RlStep


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
    for done, spread in enumerate(SPREADS, start=1):
        yield step_progress(done, len(SPREADS), "Spread")
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
    for done, share in enumerate(SPLITS, start=1):
        yield step_progress(done, len(SPLITS), "Split")
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
    times = (step.generation * point / 40 for point in range(41))
    return tuple((time, unfinished_share(step.engines, time)) for time in times)


def published() -> tuple[Published, ...]:
    """Return the published steps of a job on three clusters, in two placements."""
    return tuple(
        Published(
            measured=row,
            simulated=step_of(
                Inputs(world_size=row.world_size, **JOB),  # type: ignore[arg-type]
                cast("RlMode", row.mode),
            ),
        )
        for row in ROLLOUT_STEPS
    )


_ASSUMES = (
    "Lengths are lognormal, cut at the longest allowed; responses are dealt to the engines like "
    "cards, and an engine takes the next one when one ends.",
    "Generation and training take what they take on the other pages of this site; between two "
    "passes an engine takes 1.7 ms, from two published steps.",
    "Training is FSDP with full recomputation, on packed rows of 16,384 tokens. A stream trains on "
    "the log-probabilities of the engine, without a pass of its own.",
    "The range is what one report's six steps took, over what is simulated for them.",
)


def _output(label: str, note: str, color: str = "ink") -> Output:
    return Output(label, "", note, color, _ASSUMES, ("verl2025",), "simulated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Every number of the lab."""

    setup: RlJob
    steps: dict[RlMode, RlStep]
    step: Annotated[
        Seconds,
        _output(
            "A step", "from one update to the next; a range from {fastest} to {slowest}", "compute"
        ),
    ]
    fastest: Seconds
    slowest: Seconds
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
    tail_curve: SlicedRun[Tail]
    split: SlicedRun[Split]
    survivors: Lazy[tuple[tuple[Seconds, Share], ...]]
    published: Lazy[tuple[Published, ...]]


def solve(inputs: Inputs) -> Result:
    """Simulate the step in every placement."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Simulate the step in every placement."""
    setup = setup_of(inputs)
    plain = Inputs(**{name: getattr(inputs, name) for name in Inputs.__slots__ if name != "mode"})
    steps = {}
    for done, mode in enumerate(MODES, start=1):
        yield step_progress(done, len(MODES), "Placement")
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
        fastest=FASTEST * own_step.total,
        slowest=SLOWEST * own_step.total,
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
        tail_curve=SlicedRun(tail(plain)),
        split=SlicedRun(split(plain, inputs.mode)),
        survivors=Lazy(partial(survivors, drained)),
        published=Lazy(published),
    )
