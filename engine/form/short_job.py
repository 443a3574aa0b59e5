"""A job in twelve input fields, for calculators of measurements."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, get_type_hints

from engine.catalog.accelerators import ACCELERATORS
from engine.core.inputs import Choice, Field, Number, Scalar
from engine.core.text import Text
from engine.form.own_gpu import OWN_GPU
from engine.form.run.inputs import CUSTOM, OLDER_NAMES
from engine.form.run.inputs import Inputs as Form
from engine.form.run.nearest_valid import nearest_run
from engine.run.run import Run

_MARKS = get_type_hints(Form, include_extras=True)
_WHOLE = Form()


def _size(label: str, high: int) -> Number:
    return Number(label=label, low=1, high=high, scale="log2", whole=True)


def _option(name: str) -> Choice:
    mark: Choice = _MARKS[name].__metadata__[0]
    return mark


def _shape(name: str) -> Field:
    mark: Field = _MARKS[name].__metadata__[0]
    return mark


_MODELS = _option("model")
ModelName = Annotated[
    str,
    Choice(
        label=_MODELS.label,
        cites=False,
        options=OLDER_NAMES,
    ),
]
# Where the fields of `Shape` are too.
ALL_MODELS = {CUSTOM: "your own (more inputs)", **OLDER_NAMES}
AnyModelName = Annotated[str, Choice(label=_MODELS.label, cites=False, options=ALL_MODELS)]
# What these calculators have no further fields for.
_GPUS = {
    key: name
    for key, name in _option("gpu").options.items()
    if key != OWN_GPU and not (key in ACCELERATORS and ACCELERATORS[key].xla)
}
GpuName = Annotated[str, replace(_option("gpu"), options=_GPUS)]
WorldSize = Annotated[int, _size("GPUs", 131_072)]
TensorParallel = Annotated[int, _size("Tensor parallel", 64)]
PipelineParallel = Annotated[int, _size("Pipeline parallel", 128)]
ContextParallel = Annotated[int, _size("Context parallel", 64)]
ExpertParallel = Annotated[int, _size("Expert parallel", 256)]
ZeroStage = Annotated[str, _option("zero_stage")]
MicroBatch = Annotated[int, _size("Micro-batch", 256)]
GlobalBatch = Annotated[int, _size("Global batch, sequences", 65_536)]
SequenceLength = Annotated[int, _size("Sequence length", 1 << 20)]
PrecisionName = Annotated[str, _option("precision")]
RecomputeName = Annotated[str, _option("recompute")]
_SOFTWARE = {key: name for key, name in _option("framework").options.items() if key != "xla"}
FrameworkName = Annotated[str, replace(_option("framework"), options=_SOFTWARE)]
_NAMES = (
    "model",
    "gpu",
    "world_size",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "expert_parallel",
    "zero_stage",
    "micro_batch_size",
    "global_batch_size",
    "sequence_length",
    "precision",
    "recompute",
    "framework",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Inputs for the shape of a custom model, used where `model` says so."""

    num_layers: Annotated[int, _shape("num_layers")] = _WHOLE.num_layers
    hidden_size: Annotated[int, _shape("hidden_size")] = _WHOLE.hidden_size
    num_attention_heads: Annotated[int, _shape("num_attention_heads")] = _WHOLE.num_attention_heads
    num_key_value_heads: Annotated[int, _shape("num_key_value_heads")] = _WHOLE.num_key_value_heads
    ffn_hidden_size: Annotated[int, _shape("ffn_hidden_size")] = _WHOLE.ffn_hidden_size
    vocab_size: Annotated[int, _shape("vocab_size")] = _WHOLE.vocab_size
    mlp: Annotated[str, _shape("mlp")] = _WHOLE.mlp
    tied_embeddings: Annotated[bool, _shape("tied_embeddings")] = _WHOLE.tied_embeddings
    num_experts: Annotated[int, _shape("num_experts")] = _WHOLE.num_experts
    experts_per_token: Annotated[int, _shape("experts_per_token")] = _WHOLE.experts_per_token
    num_shared_experts: Annotated[int, _shape("num_shared_experts")] = _WHOLE.num_shared_experts
    expert_ffn_hidden_size: Annotated[int, _shape("expert_ffn_hidden_size")] = (
        _WHOLE.expert_ffn_hidden_size
    )
    num_dense_layers: Annotated[int, _shape("num_dense_layers")] = _WHOLE.num_dense_layers


# Llama 3 70B on 64 H100, as Megatron-LM runs it: the job of the sample log.
LLAMA_70B: Mapping[str, Scalar] = {
    "model": "llama-3-70b",
    "world_size": 64,
    "tensor_parallel": 4,
    "pipeline_parallel": 4,
    "context_parallel": 2,
    "micro_batch_size": 1,
    "global_batch_size": 128,
    "recompute": "none",
    "zero_stage": "1",
    "framework": "megatron",
}


def job_run(inputs: object, **cluster: Any) -> Run:  # noqa: ANN401 (fields of the form)
    """Return the run of inputs that have these fields; all else is as the framework sets it.

    Args:
        inputs: of any calculator with these fields.
        cluster: fields of the whole form that stand for the machines, where they are known.
    """
    return job_run_and_changes(inputs, **cluster)[0]


def job_run_and_changes(inputs: object, **cluster: Any) -> tuple[Run, tuple[Text, ...]]:  # noqa: ANN401
    """Return the run of the inputs, and the changes that make it possible."""
    names = (*_NAMES, *(field.name for field in fields(Shape) if isinstance(inputs, Shape)))
    job = {name: getattr(inputs, name) for name in names if name not in cluster}
    own_constants = getattr(inputs, "own_constants", "")
    return nearest_run(
        Form(
            **job,
            **cluster,
            own_constants=own_constants,
            virtual_pipeline=1,
            schedule="1f1b",
            sequence_parallel=job["tensor_parallel"] > 1,
        )
    )
