"""The inputs of the board: the job, and which tensors it keeps."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.inputs import Choice, Number, Switch
from engine.core.outputs import Symbol
from engine.form.fields import OwnConstants
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.saved_tensors import ANCHOR, SavedLayer, saved_layer

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
