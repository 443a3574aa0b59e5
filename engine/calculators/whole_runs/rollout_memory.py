"""Memory of a GPU that alternates training and generation: resident and offloaded parts."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.inputs import PERCENT, Choice, Number, Switch
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, Bytes, Gbit
from engine.core.views import Axis, Badge, Bar, Bars, Rule, Segment
from engine.form.memory_fit import fit_badge
from engine.run.parallelism import Cluster
from engine.simulate.job.reinforcement import RlJob, RlMemory, rl_fit, rl_memory
from engine.simulate.job.rollouts import RolloutRequest
from engine.simulate.memory.allocator import MemoryFit

TITLE = "The memory of a GPU with two jobs"
QUESTION = "Does a model that trains and generates on the same GPUs fit?"
HEADLINE = "generating"
EQUATIONS = ()
PRESETS = {
    "The engine never sleeps": {"sleeps": False},
    "Eight GPUs": {"world_size": 8},
    "PPO with a critic": {"algorithm": "ppo"},
}
_MODELS = ("qwen2.5-1.5b", "qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b", "llama-3-8b")
_GPUS = ("A100-SXM-80GB", "H100-SXM", "H200-SXM", "B200")
_ASSUMES = (
    "FSDP: parameters, gradients and both moments in single precision, evenly sharded; the "
    "reference model in 16 bits, sharded too. The engine holds its slice of the weights whole.",
    "Training with full recomputation on rows of 16,384 tokens.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    world_size: Annotated[
        int, Number(label="GPUs", low=8, high=256, scale="log2", whole=True, symbol="n")
    ] = 32
    cache_share: Annotated[
        float,
        Number(
            label="For the engine",
            unit=PERCENT,
            low=0.2,
            high=0.95,
            step=0.05,
            help="vLLM's gpu_memory_utilization: weights and caches together.",
        ),
    ] = 0.6
    sleeps: Annotated[bool, Switch(label="The engine sleeps while others work")] = True
    offloaded: Annotated[
        bool, Switch(label="States wait in the host's memory while it generates")
    ] = False
    algorithm: Annotated[
        str,
        Choice(
            label="Algorithm",
            options={"grpo": "GRPO: no critic", "ppo": "PPO: a critic of the same size"},
        ),
    ] = "grpo"
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "qwen2.5-7b"
    gpu: Annotated[
        str, Choice(label="GPU", options={key: ACCELERATORS[key].name for key in _GPUS})
    ] = "H100-SXM"
    engine: Annotated[
        str, Choice(label="GPUs of an engine", options={n: n for n in ("1", "2", "4", "8")})
    ] = "1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Memory in the training and the generation phase."""

    phases: tuple[RlMemory, RlMemory]
    generating: Annotated[
        Bytes, Output("While it generates", "", "of {capacity} usable", "buffers", _ASSUMES)
    ]
    training: Annotated[
        Bytes, Output("While it trains", "", "of {capacity} usable", "activations", _ASSUMES)
    ]
    sharded: Annotated[
        Bytes,
        Output(
            "Of that, shrinks with more GPUs", "", "states and reference", "optimizer", _ASSUMES
        ),
    ]
    kept: Annotated[
        Bytes,
        Output("Does not shrink", "", "weights and caches of the engine", "buffers", _ASSUMES),
    ]
    capacity: Bytes
    fit: MemoryFit
    engine: Bytes
    share: Bytes


def solve(inputs: Inputs) -> Result:
    """Return a GPU's memory in both phases."""
    gpu = ACCELERATORS[inputs.gpu]
    setup = RlJob(
        model=MODELS[inputs.model],
        cluster=Cluster(gpu=gpu, gpus_per_node=8, nics_per_node=8, nic_bandwidth=400 * Gbit),
        world_size=inputs.world_size,
        generating=inputs.world_size,
        engine=int(inputs.engine),
        request=RolloutRequest(
            responses=1024, per_prompt=8, prompt=512, median=800, spread=1.0, longest=16_384
        ),
        cache_share=inputs.cache_share,
        critic=inputs.algorithm == "ppo",
    )
    phases = rl_memory(setup, sleeps=inputs.sleeps, offloaded=inputs.offloaded)
    fit = rl_fit(phases, gpu.memory)
    return Result(
        phases=phases,
        generating=phases[0].total,
        training=phases[1].total,
        sharded=phases[0].states + phases[0].reference,
        kept=phases[0].engine + phases[0].cache,
        capacity=fit.usable,
        fit=fit,
        engine=phases[0].engine,
        share=inputs.cache_share * gpu.memory,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return both phases as bars, and whether they fit."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "bars": partial(_bars, result),
        **present.values("generating", "training", "sharded", "kept"),
        "fits": _fits(present, inputs, result),
    }


def _fits(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if result.engine > result.share:
        return Badge(
            text="The engine does not start",
            sentence=present.say(
                "Its weights, {engine}, exceed its share of the GPU, {share}. Give the engine "
                "more, or more GPUs."
            ),
            color="bad",
        )
    if result.fit.runs:
        return fit_badge(result.fit, "The fuller phase")
    if result.generating > result.capacity:
        return Badge(
            text="Out of memory while it generates",
            sentence=present.say(
                "{generating} against {capacity}. Give the engine less"
                + (
                    ", or use more GPUs."
                    if inputs.offloaded
                    else ", or let the states wait in the host's memory."
                )
            ),
            color="bad",
        )
    return Badge(
        text="Out of memory while it trains",
        sentence=present.say(
            "{training} against {capacity}. "
            + ("Use more GPUs." if inputs.sleeps else "Let the engine sleep.")
        ),
        color="bad",
    )


def _bars(result: Result) -> Bars:
    names = (
        ("states", "states of what is trained", "optimizer"),
        ("reference", "frozen models", "parameters"),
        ("engine", "weights of the engine", "gradients"),
        ("cache", "keys and values", "buffers"),
        ("activations", "activations and buffers", "activations"),
    )
    most = max(result.generating, result.training, result.capacity)
    return Bars(
        title="One GPU, two phases",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=1.25 * most),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=tuple(
                    Segment(key=name, label=label, value=getattr(phase, name), color=color)
                    for name, label, color in names
                ),
            )
            for key, label, phase in zip(
                ("generating", "training"),
                ("generating", "training"),
                result.phases,
                strict=True,
            )
        ),
        rules=(
            Rule(
                key="capacity",
                label=say("{c}", c=(result.capacity, BYTES)),
                axis="x",
                at=result.capacity,
            ),
        ),
        caption="The line is what can be used of a GPU's memory.",
    )
