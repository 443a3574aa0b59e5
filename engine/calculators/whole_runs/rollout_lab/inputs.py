"""Inputs of the rollout lab, and the reinforcement-learning job that they describe."""

from dataclasses import dataclass, replace
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import PERCENT, Choice, Number
from engine.core.units import Count, Gbit
from engine.form.fields import OwnConstants
from engine.run.parallelism import Cluster
from engine.simulate.job.reinforcement import RlJob, RlMode, with_split
from engine.simulate.job.rollouts import RolloutRequest

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
        int, Number(label="Throw of the dice", low=1, high=1000, whole=True, advanced=True)
    ] = 1
    own_constants: OwnConstants = ""


def setup_of(inputs: Inputs) -> RlJob:
    """Return the job."""
    cluster = Cluster(
        gpu=ACCELERATORS[inputs.gpu],
        gpus_per_node=8,
        nics_per_node=8,
        nic_bandwidth=400 * Gbit,
        own=parse_constants(inputs.own_constants),
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


def with_mode(inputs: Inputs, mode: RlMode) -> Inputs:
    """Return the job with another placement."""
    return replace(inputs, mode=mode)


def engines_of(setup: RlJob, mode: RlMode) -> Count:
    """Return the engines of a job."""
    generating = setup.world_size if mode == "colocated" else setup.generating
    return max(1, generating // setup.engine)
