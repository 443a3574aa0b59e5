"""What the board shows: bytes kept, operations repeated, and whether the step fits."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.one_gpu.recompute_board.inputs import Inputs, Job, dropped, job_of
from engine.calculators.one_gpu.recompute_board.sweeps import (
    Stepped,
    best_of,
    gpt,
    lengths_of,
    step_of,
    steps_of,
)
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse
from engine.core.lazy import Later
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, Operations, Seconds, Share
from engine.formulas.operations import output_gemm
from engine.formulas.recomputation import kept_by_layers
from engine.run.parallelism import Cluster
from engine.simulate.layer.device_model import rank_of
from engine.simulate.memory.allocator import usable
from engine.simulate.memory.saved_tensors import num_drop_sets

_SIZES = ("Element-wise kernels are fused, as by torch.compile.",)
_GPT = (
    "The formula of a GPT layer with dropout and without FlashAttention, in bytes, times the "
    "layers; the reader's model is not a GPT.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The board.

    Attributes:
        job: its plan, its training and its saved tensors.
        gone: the tensors that are dropped.
        steps: the step by policy, and that of the reader's set under "yours".
        best: share computed again and bytes kept, of the sets that no other set beats.
        lengths: bytes that all layers keep over `LENGTHS`, by policy and by the GPT formula.
        fixed: states, buffers and reserve of the rank.
    """

    job: Job
    gone: frozenset[str]
    steps: Later[Mapping[str, Stepped]]
    best: Later[tuple[tuple[Share, Bytes], ...]]
    lengths: Later[Mapping[str, tuple[Bytes, ...]]]
    kept: Annotated[
        Bytes,
        Told("Kept by all layers", "K", "of {everything} if nothing is dropped", "activations"),
    ]
    kept_layer: Annotated[Bytes, Told("Kept by one layer", "k", color="activations")]
    everything: Bytes
    extra: Annotated[
        Share,
        Told(
            "Computed again",
            "x",
            "of the operations of a step",
            "compute",
            assumes=("Element-wise operators count as no operations; their time is told apart.",),
        ),
    ]
    layers: Annotated[Count, Told(symbol="L", of="model")]
    again: Annotated[Operations, Told(symbol="a")]
    forward: Annotated[Operations, Told(symbol="f")]
    output: Annotated[Operations, Told(symbol="o")]
    light_time: Annotated[
        Seconds,
        Told(
            "Element-wise operators, again",
            note="in every step, at the bandwidth that long kernels reach",
            color="memory",
            assumes=(
                "Each dropped tensor that no product makes is written once more, and as much is "
                "read for it.",
            ),
            sources=("korthikanti2022",),
        ),
    ]
    total: Annotated[
        Bytes,
        Told(
            "Fullest moment of the step",
            note="of {usable} that may be filled",
            color="activations",
            assumes=(
                "States, buffers and reserve {fixed}, activations at their peak {peak}.",
                "All GPUs share the states; the peak is the one of the memory model of all pages.",
            ),
            sources=("rajbhandari2020", "korthikanti2022"),
        ),
    ]
    fixed: Bytes
    peak: Bytes
    usable: Bytes
    num_sets: Annotated[
        Count,
        Told("Sets to choose from", assumes=("Two choices for each tensor but the input.",)),
    ]
    gpt_none: Annotated[Bytes, Told("GPT formula", color="muted", assumes=_GPT)]
    gpt_selective: Annotated[
        Bytes, Told("GPT formula, scores dropped", color="muted", assumes=_GPT)
    ]
    gpt_full: Annotated[Bytes, Told("GPT formula, inputs only", color="muted", assumes=_GPT)]


def solve(inputs: Inputs) -> Result:
    """Return every number of the board."""
    job, model = job_of(inputs), MODELS[inputs.model]
    layer, gone = job.layer, dropped(inputs, job.layer)
    output = output_gemm(model, job.plan, job.training).operations
    own = step_of(model, job, gone, output)
    gpu = ACCELERATORS[inputs.gpu]
    cluster = Cluster(
        gpu=gpu,
        gpus_per_node=8,
        nics_per_node=8,
        nic_bandwidth=5e10,
        own=parse(inputs.own_constants),
    )
    light = sum(
        one.size for one in layer.tensors if one.key in gone and not layer.operations[one.operator]
    )
    layers = model.num_layers
    none, selective, full = gpt(inputs, inputs.sequence_length)
    return Result(
        job=job,
        gone=gone,
        steps=Later(partial(steps_of, model, job, own, output)),
        best=Later(partial(best_of, layers, layer, output)),
        lengths=Later(partial(lengths_of, inputs)),
        kept=own.kept,
        kept_layer=layer.kept(gone),
        everything=kept_by_layers(layers, layer.size),
        extra=own.extra,
        layers=layers,
        again=layer.again(gone),
        forward=layer.forward,
        output=output,
        light_time=layers * 2 * light / rank_of(cluster, job.training).memory,
        total=own.fixed + own.peak,
        fixed=own.fixed,
        peak=own.peak,
        usable=usable(gpu.memory, job.training),
        num_sets=num_drop_sets(layer),
        gpt_none=none,
        gpt_selective=selective,
        gpt_full=full,
    )
