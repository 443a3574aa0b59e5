"""Results of the recompute board: saved bytes, repeated operations, and the fit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS, Model
from engine.catalog.reader_constants import parse_constants
from engine.core.inputs import Choice, Number, Switch
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Symbol
from engine.core.units import Bytes, Count, Operations, Seconds, Share
from engine.form.fields import OwnConstants
from engine.formulas.activations import HALF
from engine.formulas.gpt import korthikanti_activations
from engine.formulas.operations import output_gemm
from engine.formulas.recomputation import kept_by_layers, repeated_share
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.memory.allocator import Memory, MemoryFit, memory_fit
from engine.simulate.memory.memory import rank_memory
from engine.simulate.memory.memory_over_step import (
    ANCHOR,
    MemoryMoment,
    SavedLayer,
    memory_over_step,
    num_drop_sets,
    pareto_drop_sets,
    peak_moment,
    policy_drops,
    saved_layer,
)

# The inputs of the board: the job, and which tensors it keeps.

OFFERED_MODELS = (
    "llama-3-8b",
    "llama-2-7b",
    "llama-2-13b",
    "llama-3-70b",
    "llama-3-405b",
    "gpt-22b",
    "gpt-3-175b",
)
_GPUS = ("H100-SXM", "H200-SXM", "B200", "A100-SXM-80GB", "A100-SXM-40GB", "MI300X")
LONGEST = 1 << 17
# Every tensor that some layer saves: (name, name on its tile).
NAMES = {
    ANCHOR: ("the layer's input", "input"),
    "normed": ("output of the first norm", "normed"),
    "query": ("queries", "queries"),
    "key": ("keys", "keys"),
    "value": ("values", "values"),
    "rotated": ("queries and keys with their positions", "rotated q, k"),
    "normalizer": ("normalizers of the softmax", "log-sums"),
    "softmax": ("softmax of the scores", "softmax"),
    "score_mask": ("mask of the scores' dropout", "mask"),
    "dropped_scores": ("scores after dropout", "dropped"),
    "attended": ("result of the attention", "attended"),
    "output_mask": ("mask of the dropout after the attention", "mask"),
    "middle": ("input of the second norm", "sum"),
    "normed_2": ("output of the second norm", "normed"),
    "gate": ("gate", "gate"),
    "up": ("up-projection", "up"),
    "inner": ("input of GELU", "inner"),
    "product": ("input of the last matrix", "product"),
    "mlp_mask": ("mask of the last dropout", "mask"),
}


def _keep_switch(key: str) -> Switch:
    return Switch(label=f"Keep {NAMES[key][0]}", advanced=True)


def _count_field(label: str, low: int, high: int, symbol: str = "") -> Number:
    return Number(label=label, low=low, high=high, scale="log2", whole=True, symbol=symbol)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    model: Annotated[
        str,
        Choice(
            label="Model", cites=False, options={key: MODELS[key].name for key in OFFERED_MODELS}
        ),
    ] = "llama-3-8b"
    sequence_length: Annotated[
        int, _count_field("Sequence length", 1024, LONGEST, "s"), Symbol("s")
    ] = 8192
    micro_batch_size: Annotated[int, _count_field("Micro-batch", 1, 64, "b"), Symbol("b")] = 2
    gpu: Annotated[
        str, Choice(label="GPU", options={key: ACCELERATORS[key].name for key in _GPUS})
    ] = "H100-SXM"
    world_size: Annotated[int, _count_field("GPUs", 1, 16_384, "n")] = 8
    tensor_parallel: Annotated[int, _count_field("Tensor parallel", 1, 8, "t"), Symbol("t")] = 1
    sequence_parallel: Annotated[
        bool,
        Switch(label="Sequence parallel", help="Has no effect without tensor parallelism."),
    ] = True
    framework: Annotated[
        str,
        Choice(
            label="Software",
            options={
                "fsdp": "PyTorch FSDP: all states sharded",
                "megatron": "Megatron: ZeRO-1",
            },
        ),
    ] = "fsdp"
    flash_attention: Annotated[
        bool,
        Switch(label="Fused attention", help="Off: the scores of all pairs reach memory."),
    ] = True
    keep_normed: Annotated[bool, _keep_switch("normed")] = True
    keep_query: Annotated[bool, _keep_switch("query")] = True
    keep_key: Annotated[bool, _keep_switch("key")] = True
    keep_value: Annotated[bool, _keep_switch("value")] = True
    keep_rotated: Annotated[bool, _keep_switch("rotated")] = True
    keep_normalizer: Annotated[bool, _keep_switch("normalizer")] = True
    keep_softmax: Annotated[bool, _keep_switch("softmax")] = True
    keep_score_mask: Annotated[bool, _keep_switch("score_mask")] = True
    keep_dropped_scores: Annotated[bool, _keep_switch("dropped_scores")] = True
    keep_attended: Annotated[bool, _keep_switch("attended")] = True
    keep_output_mask: Annotated[bool, _keep_switch("output_mask")] = True
    keep_middle: Annotated[bool, _keep_switch("middle")] = True
    keep_normed_2: Annotated[bool, _keep_switch("normed_2")] = True
    keep_gate: Annotated[bool, _keep_switch("gate")] = True
    keep_up: Annotated[bool, _keep_switch("up")] = True
    keep_inner: Annotated[bool, _keep_switch("inner")] = True
    keep_product: Annotated[bool, _keep_switch("product")] = True
    keep_mlp_mask: Annotated[bool, _keep_switch("mlp_mask")] = True
    own_constants: OwnConstants = ""


KEPT_KEYS = tuple(key for key in NAMES if key != ANCHOR)


def keep_inputs(*kept: str) -> dict[str, bool]:
    """Return the inputs of a set that keeps these tensors only."""
    return {f"keep_{key}": key in kept for key in KEPT_KEYS}


def dropped_tensors(inputs: Inputs, layer: SavedLayer) -> frozenset[str]:
    """Return the tensors of the layer that the reader drops."""
    gone = {key for key in KEPT_KEYS if not getattr(inputs, f"keep_{key}")}
    return frozenset(tensor.key for tensor in layer.tensors if tensor.key in gone)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The training job without the choice of saved tensors."""

    plan: Plan
    training: Training
    layer: SavedLayer


def job_of(inputs: Inputs) -> Job:
    """Return the job; a rank of tensor parallelism needs a GPU of its own."""
    return _job(
        inputs.model,
        inputs.sequence_length,
        inputs.micro_batch_size,
        max(inputs.world_size, inputs.tensor_parallel),
        (inputs.tensor_parallel, inputs.sequence_parallel),
        inputs.framework,
        inputs.flash_attention,
    )


@lru_cache(maxsize=256)
def _job(
    model: str,
    sequence_length: int,
    batch: int,
    world_size: int,
    tensor: tuple[int, bool],
    framework: str,
    fused: bool,
) -> Job:
    split, sequence = tensor
    plan = Plan(
        world_size=world_size,
        tensor_parallel=split,
        sequence_parallel=sequence and split > 1,
        zero_stage=3 if framework == "fsdp" else 1,
    )
    training = Training(
        micro_batch_size=batch,
        global_batch_size=batch * (world_size // split),
        sequence_length=sequence_length,
        framework="fsdp" if framework == "fsdp" else "megatron",
        flash_attention=fused,
    )
    return Job(plan=plan, training=training, layer=saved_layer(MODELS[model], plan, training))


# The board over the step, over policies, over all sets and over sequence lengths.

POLICIES = ("none", "core_attn", "every_second", "full")
LENGTHS = tuple(1 << power for power in range(10, LONGEST.bit_length()))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecomputeStep:
    """A step that drops a set of tensors.

    Attributes:
        moments: of it.
        memory: of the rank at the fullest of them.
        kept: by all layers.
        extra: share of the step's operations that run again.
    """

    moments: tuple[MemoryMoment, ...]
    memory: Memory
    kept: Bytes
    extra: Share

    @property
    def peak(self) -> Bytes:
        """Activations at the peak."""
        return self.memory.activations

    @property
    def fixed(self) -> Bytes:
        """States, buffers and reserve of the rank beside those."""
        return self.memory.total - self.memory.activations


def step_of(model: Model, job: Job, gone: frozenset[str], output: Operations) -> RecomputeStep:
    """Return the step that drops these tensors; `output` are operations of the output layer."""
    layers, layer = model.num_layers, job.layer
    moments = memory_over_step(model, job.plan, job.training, layer, gone)
    memory = rank_memory(model, job.plan, job.training)
    return RecomputeStep(
        moments=moments,
        memory=replace(memory, activations=peak_moment(moments).activations),
        kept=kept_by_layers(layers, layer.kept(gone)),
        extra=repeated_share(layers, layer.again(gone), layer.forward, output),
    )


def steps_of(
    model: Model, job: Job, chosen: RecomputeStep, output: Operations
) -> Mapping[str, RecomputeStep]:
    """Return the step by policy, and the reader's own."""
    steps = {key: step_of(model, job, policy_drops(job.layer, key), output) for key in POLICIES}
    return {**steps, "yours": chosen}


def pareto_sets(
    layers: Count, layer: SavedLayer, output: Operations
) -> tuple[tuple[Share, Bytes], ...]:
    """Return the share computed again and the bytes kept of the sets that no other set beats."""
    return tuple(
        (
            repeated_share(layers, choice.again, layer.forward, output),
            kept_by_layers(layers, choice.kept),
        )
        for choice in pareto_drop_sets(layer)
    )


def memory_over_lengths(inputs: Inputs) -> Mapping[str, tuple[Bytes, ...]]:
    """Return the saved bytes of all layers over `LENGTHS`, by policy and by the GPT formula."""
    layers = MODELS[inputs.model].num_layers
    every = [job_of(replace(inputs, sequence_length=length)).layer for length in LENGTHS]
    kept = {
        key: tuple(kept_by_layers(layers, layer.kept(policy_drops(layer, key))) for layer in every)
        for key in ("none", "every_second", "full")
    }
    return {**kept, "gpt": tuple(gpt_formula(inputs, length)[0] for length in LENGTHS)}


def gpt_formula(inputs: Inputs, sequence_length: Count) -> tuple[Bytes, Bytes, Bytes]:
    """Return the GPT formula for the model's width: everything, without scores, inputs only."""
    model, batch = MODELS[inputs.model], inputs.micro_batch_size
    tokens = batch * sequence_length
    split = inputs.tensor_parallel
    shape = (tokens, model.hidden_size, model.num_attention_heads)
    scores = 5 * tokens * sequence_length * model.num_attention_heads / split
    every = korthikanti_activations(*shape, sequence_length, split)
    kept = (every, every - scores, HALF * tokens * model.hidden_size)
    none, selective, full = (kept_by_layers(model.num_layers, size) for size in kept)
    return none, selective, full


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
            "Peak of the step",
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
    chosen = step_of(model, job, gone, output)
    gpu = ACCELERATORS[inputs.gpu]
    cluster = Cluster(
        gpu=gpu,
        gpus_per_node=8,
        nics_per_node=8,
        nic_bandwidth=5e10,
        own_constants=parse_constants(inputs.own_constants),
    )
    light = sum(
        tensor.size
        for tensor in layer.tensors
        if tensor.key in gone and not layer.operations[tensor.operator]
    )
    layers, fit = model.num_layers, memory_fit(chosen.memory, gpu.memory)
    none, selective, full = gpt_formula(inputs, inputs.sequence_length)
    return Result(
        job=job,
        gone=gone,
        steps=Lazy(partial(steps_of, model, job, chosen, output)),
        best=Lazy(partial(pareto_sets, layers, layer, output)),
        lengths=Lazy(partial(memory_over_lengths, inputs)),
        kept=chosen.kept,
        kept_layer=layer.kept(gone),
        everything=kept_by_layers(layers, layer.size),
        extra=chosen.extra,
        layers=layers,
        again=layer.again(gone),
        forward=layer.forward,
        output=output,
        light_time=layers * 2 * light / rank_rates(cluster, job.training).memory,
        total=chosen.memory.total,
        fixed=chosen.fixed,
        peak=chosen.peak,
        usable=fit.usable,
        fit=fit,
        num_sets=num_drop_sets(layer),
        gpt_none=none,
        gpt_selective=selective,
        gpt_full=full,
    )
