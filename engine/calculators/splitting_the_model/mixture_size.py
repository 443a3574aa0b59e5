"""Mixture size: all parameters and those at work on a token, in memory and in operations."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import num_sparse_layers
from engine.catalog.recent_models import EVERY_MODEL
from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.units import Bytes, Count, Operations, Parameters, Ratio, Share
from engine.core.views import Bar, Bars, Segment
from engine.form.job_inputs import GPUS
from engine.formulas.parameters import (
    ACTIVE_PARAMETERS,
    active_parameters,
    expert_parameters,
    total_parameters,
)
from engine.formulas.states import MIXED_PRECISION
from engine.formulas.token_operations import TRAINING
from engine.run.parallelism import Training
from engine.simulate.memory.allocator import usable_bytes

TITLE = "All parameters, and those at work"
QUESTION = "Which number of parameters determines the memory, and which the operations?"
HEADLINE = "total"
EQUATIONS = (ACTIVE_PARAMETERS,)
PRESETS = {
    "DeepSeek-V3 on H800": {"model": "deepseek-v3", "gpu": "H800-SXM"},
    "Qwen3 235B-A22B": {"model": "qwen3-235b-a22b"},
    "Llama 3 70B, dense": {"model": "llama-3-70b"},
}
_ANY = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)
_STATES = (
    "Parameters, gradients and Adam's states in mixed precision, 16 bytes per parameter; "
    "activations come on top.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model",
            cites=False,
            options={key: model.name for key, model in EVERY_MODEL.items()},
        ),
    ] = "mixtral-8x7b"
    gpu: Annotated[str, Choice(label="GPU", options=GPUS)] = "H100-SXM"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Total and active parameters, and the quantities that depend on each."""

    total: Annotated[
        Parameters,
        Output(
            "All parameters",
            "P",
            "they fill memory",
            "parameters",
            basis="definition",
            assumes=("Counted from the model's configuration, without multi-token prediction.",),
        ),
    ]
    active: Annotated[
        Parameters,
        Output("At work on a token", "a", "they cost operations: {share} of all", "compute"),
    ]
    share: Share
    layers: Annotated[Count, Output(symbol="l")]
    num_experts: Annotated[Count, Output(symbol="E")]
    experts_per_token: Annotated[Count, Output(symbol="k")]
    expert: Annotated[Parameters, Output(symbol="x")]
    shared: Count
    width: Annotated[
        Ratio,
        Output(
            "Experts at work, over one",
            note="{experts_per_token} routed, {shared} shared",
            color="expert",
            basis="definition",
            assumes=("Routed and shared experts that work on one token, all of one size.",),
        ),
    ]
    states: Annotated[
        Bytes,
        Output(
            "States of all parameters",
            color="parameters",
            assumes=_STATES,
        ),
    ]
    num_gpus: Annotated[
        Count,
        Output(
            "GPUs for the states",
            note="at least, before any activation",
            assumes=("What the driver and NCCL take is left out of a GPU's memory.",),
        ),
    ]
    mistaken: Annotated[
        Bytes,
        Output(
            "If only active ones counted",
            note="what a wrong estimate says",
            color="muted",
            assumes=_STATES,
        ),
    ]
    operations: Annotated[
        Operations,
        Output(
            "Operations per token",
            note="forward and backward",
            color="compute",
            assumes=("6 per parameter at work; the attention between tokens is left out.",),
            sources=("kaplan2020",),
        ),
    ]
    over: Annotated[
        Operations,
        Output(
            "If all experts worked",
            note="operations per token",
            color="muted",
            assumes=("6 per parameter.",),
            sources=("kaplan2020",),
        ),
    ]


def solve(inputs: Inputs) -> Result:
    """Return both counts, and memory and operations of each."""
    model = EVERY_MODEL[inputs.model]
    total, active = total_parameters(model), active_parameters(model)
    states = total * MIXED_PRECISION.total
    return Result(
        total=total,
        active=active,
        share=active / total,
        layers=num_sparse_layers(model),
        num_experts=model.num_experts,
        experts_per_token=model.experts_per_token,
        expert=expert_parameters(model),
        shared=model.num_shared_experts,
        width=float(model.experts_per_token + model.num_shared_experts or 1),
        states=states,
        num_gpus=math.ceil(states / usable_bytes(ACCELERATORS[inputs.gpu].memory)),
        mistaken=active * MIXED_PRECISION.total,
        operations=TRAINING * active,
        over=TRAINING * total,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the counts and the bar that they are made of."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("total", "active", "width"),
        **present.values("states", "num_gpus", "mistaken", "operations", "over"),
        "parts": partial(_parts, present, inputs, result),
    }


def _parts(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    """Return a bar of all parameters, active and inactive for a token."""
    at_work = result.layers * result.experts_per_token * result.expert
    idle = result.total - result.active
    return Bars(
        title="Where the parameters are",
        axis=present.axis("total", "parameters", low=0.0, high=1.04 * result.total),
        bars=(
            Bar(
                key="always",
                label="always at work",
                segments=(_segment("always", result.active - at_work, "parameters"),),
            ),
            Bar(
                key="chosen",
                label="chosen experts",
                segments=(_segment("chosen", at_work, "expert"),),
            ),
            Bar(
                key="idle",
                label="experts passed over",
                segments=(_segment("idle", idle, "idle"),),
            ),
        ),
        caption="Attention, embeddings, shared experts and dense layers always work. The idle "
        "experts of one token are busy with other tokens.",
    )


def _segment(key: str, value: float, color: str) -> Segment:
    return Segment(key=key, label=key, value=value, color=color)
