"""What the board shows: bytes kept, operations repeated, and whether the step fits."""

from dataclasses import dataclass
from typing import Annotated

from engine.basis.told import Told
from engine.basis.units import Bytes, Count, Operations, Seconds, Share
from engine.calculators.one_gpu.recompute_board.inputs import Inputs, Job, dropped, job_of
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.own_constants import parse
from engine.formulas.activations import HALF, korthikanti_activations
from engine.formulas.operations import output_gemm
from engine.formulas.recomputation import kept_by_layers, repeated_share
from engine.run.parallelism import Cluster
from engine.simulate.capacity import reserve, usable
from engine.simulate.memory import memory
from engine.simulate.memory_over_step import Moment, memory_over_step, peak
from engine.simulate.rank import rank_of
from engine.simulate.saved_tensors import num_drop_sets

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
        moments: of the step.
        fixed: states, buffers and reserve of the rank.
    """

    job: Job
    gone: frozenset[str]
    moments: tuple[Moment, ...]
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
    moments = memory_over_step(model, job.plan, job.training, layer, gone)
    highest = peak(moments).held
    fixed = fixed_memory(inputs, highest)
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
    output = output_gemm(model, job.plan, job.training).operations
    layers = model.num_layers
    none, selective, full = gpt(inputs, inputs.sequence_length)
    return Result(
        job=job,
        gone=gone,
        moments=moments,
        kept=kept_by_layers(layers, layer.kept(gone)),
        kept_layer=layer.kept(gone),
        everything=kept_by_layers(layers, layer.size),
        extra=repeated_share(layers, layer.again(gone), layer.forward, output),
        layers=layers,
        again=layer.again(gone),
        forward=layer.forward,
        output=output,
        light_time=layers * 2 * light / rank_of(cluster, job.training).memory,
        total=fixed + highest,
        fixed=fixed,
        peak=highest,
        usable=usable(gpu.memory, job.training),
        num_sets=num_drop_sets(layer),
        gpt_none=none,
        gpt_selective=selective,
        gpt_full=full,
    )


def fixed_memory(inputs: Inputs, activations: Bytes) -> Bytes:
    """Return states, buffers and reserve of the rank beside activations at their peak."""
    job = job_of(inputs)
    held = memory(MODELS[inputs.model], job.plan, job.training)
    states = held.parameters + held.gradients + held.optimizer + held.buffers
    return states + reserve(job.training, states + activations, job.plan.world_size)


def gpt(inputs: Inputs, sequence_length: Count) -> tuple[Bytes, Bytes, Bytes]:
    """Return the GPT formula for the model's width: everything, without scores, inputs only."""
    model, batch = MODELS[inputs.model], inputs.micro_batch_size
    tokens = batch * sequence_length
    split = inputs.tensor_parallel
    shape = (tokens, model.hidden_size, model.num_attention_heads)
    scores = 5 * tokens * sequence_length * model.num_attention_heads / split
    every = korthikanti_activations(*shape, sequence_length, split)
    kept = (every, every - scores, HALF * tokens * model.hidden_size)
    none, selective, full = (kept_by_layers(model.num_layers, one) for one in kept)
    return none, selective, full
