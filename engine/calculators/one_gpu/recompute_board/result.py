"""Results of the recompute board: saved bytes, repeated operations, and the fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.calculators.one_gpu.recompute_board.inputs import Inputs, Job, dropped_tensors, job_of
from engine.calculators.one_gpu.recompute_board.sweeps import (
    RecomputeStep,
    gpt_formula,
    memory_over_lengths,
    pareto_sets,
    step_of,
    steps_of,
)
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reader_constants import parse_constants
from engine.core.lazy import Lazy
from engine.core.outputs import Output
from engine.core.units import Bytes, Count, Operations, Seconds, Share
from engine.formulas.operations import output_gemm
from engine.formulas.recomputation import kept_by_layers
from engine.run.parallelism import Cluster
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.memory.allocator import MemoryFit, memory_fit
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
        fit: how the process fits the GPU.
        steps: the step by policy, and that of the reader's set under "yours".
        best: share computed again and bytes kept, of the sets that no other set beats.
        lengths: bytes that all layers keep over `LENGTHS`, by policy and by the GPT formula.
        fixed: states, buffers and reserve of the rank.
    """

    job: Job
    gone: frozenset[str]
    steps: Lazy[Mapping[str, RecomputeStep]]
    best: Lazy[tuple[tuple[Share, Bytes], ...]]
    lengths: Lazy[Mapping[str, tuple[Bytes, ...]]]
    kept: Annotated[
        Bytes,
        Output("Kept by all layers", "K", "of {everything} if nothing is dropped", "activations"),
    ]
    kept_layer: Annotated[Bytes, Output("Kept by one layer", "k", color="activations")]
    everything: Bytes
    extra: Annotated[
        Share,
        Output(
            "Computed again",
            "x",
            "of the operations of a step",
            "compute",
            assumes=("Element-wise operators count as no operations; their time is told apart.",),
        ),
    ]
    layers: Annotated[Count, Output(symbol="L", of="model")]
    again: Annotated[Operations, Output(symbol="a")]
    forward: Annotated[Operations, Output(symbol="f")]
    output: Annotated[Operations, Output(symbol="o")]
    light_time: Annotated[
        Seconds,
        Output(
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
        Output(
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
    fit: MemoryFit
    num_sets: Annotated[
        Count,
        Output("Sets to choose from", assumes=("Two choices for each tensor but the input.",)),
    ]
    gpt_none: Annotated[Bytes, Output("GPT formula", color="muted", assumes=_GPT)]
    gpt_selective: Annotated[
        Bytes, Output("GPT formula, scores dropped", color="muted", assumes=_GPT)
    ]
    gpt_full: Annotated[Bytes, Output("GPT formula, inputs only", color="muted", assumes=_GPT)]


def solve(inputs: Inputs) -> Result:
    """Return every number of the board."""
    job, model = job_of(inputs), MODELS[inputs.model]
    layer, gone = job.layer, dropped_tensors(inputs, job.layer)
    output = output_gemm(model, job.plan, job.training).operations
    own = step_of(model, job, gone, output)
    gpu = ACCELERATORS[inputs.gpu]
    cluster = Cluster(
        gpu=gpu,
        gpus_per_node=8,
        nics_per_node=8,
        nic_bandwidth=5e10,
        own=parse_constants(inputs.own_constants),
    )
    light = sum(
        tensor.size
        for tensor in layer.tensors
        if tensor.key in gone and not layer.operations[tensor.operator]
    )
    layers, fit = model.num_layers, memory_fit(own.memory, gpu.memory)
    none, selective, full = gpt_formula(inputs, inputs.sequence_length)
    return Result(
        job=job,
        gone=gone,
        steps=Lazy(partial(steps_of, model, job, own, output)),
        best=Lazy(partial(pareto_sets, layers, layer, output)),
        lengths=Lazy(partial(memory_over_lengths, inputs)),
        kept=own.kept,
        kept_layer=layer.kept(gone),
        everything=kept_by_layers(layers, layer.size),
        extra=own.extra,
        layers=layers,
        again=layer.again(gone),
        forward=layer.forward,
        output=output,
        light_time=layers * 2 * light / rank_rates(cluster, job.training).memory,
        total=own.memory.total,
        fixed=own.fixed,
        peak=own.peak,
        usable=fit.usable,
        fit=fit,
        num_sets=num_drop_sets(layer),
        gpt_none=none,
        gpt_selective=selective,
        gpt_full=full,
    )
