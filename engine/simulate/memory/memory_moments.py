"""Peak tensor memory under FSDP, where not all parts of the memory exist at once.

With one micro-batch the gradients of a layer appear behind its backward pass and go with the
update, so at the loss, where activations are fullest, there are none. The allocator still has to
hold both: gradients lie in blocks of the stream that reduces them, which no other stream can use
(`reduce_output` of FSDP2's `foreach_reduce`). So `Memory.reserved` counts all, as
`torch.cuda.max_memory_reserved` does, and `peak_tensor_bytes` what
`torch.cuda.max_memory_allocated` does.
"""

from engine.catalog.models import Model
from engine.core.record import record
from engine.core.units import Bytes, Parameters
from engine.formulas.activations import HALF, SINGLE
from engine.formulas.parameters import embedding_parameters, output_parameters
from engine.formulas.states import adapter_parameters
from engine.run.parallelism import Plan, Training, num_microbatches
from engine.simulate.memory.allocator import Memory
from engine.simulate.memory.memory import layer_memories
from engine.simulate.memory.memory_buffers import gathered_end_bytes, gathered_layer_bytes
from engine.simulate.memory.peak_activations import StageParts, stage_parts


@record
class _Units:
    """Unsharded parameters of FSDP's units on a rank.

    Attributes:
        root: gathered: embedding, output and last norm.
        layer: gathered.
        root_trained: of the root, those with a gradient.
        layer_trained: of a layer, likewise.
        output_trained: of the root, the matrix whose gradient comes first and waits for the rest.
    """

    root: Bytes
    layer: Bytes
    root_trained: Parameters
    layer_trained: Parameters
    output_trained: Parameters


def peak_tensor_bytes(model: Model, plan: Plan, training: Training, memory: Memory) -> Bytes:
    """Return the peak bytes of tensors, workspaces included.

    Of pipelines, of other software, and of several micro-batches, whose gradients are there
    throughout, all parts together.
    """
    beyond = memory.allocated - memory.tensors
    single_microbatch = num_microbatches(plan, training) == 1 and plan.pipeline_parallel == 1
    if training.framework != "fsdp" or plan.zero_stage < 3 or not single_microbatch:
        return memory.allocated
    parts = stage_parts(model, plan, training, memory.stage, layer_memories(model, plan, training))
    units = _units(model, plan, training, memory.buffers)
    fullest = max(_moment_bytes(model, memory, parts, units))
    return beyond + memory.parameters + memory.optimizer + fullest


def _moment_bytes(
    model: Model, memory: Memory, parts: StageParts, units: _Units
) -> tuple[Bytes, Bytes, Bytes, Bytes, Bytes]:
    """Return the bytes beside parameters and optimizer at five moments of the step.

    After PyTorch's source (torch/distributed/fsdp/_fully_shard, 2.13). The loss: the root's
    parameters are gathered, since a root is not resharded behind the forward pass. The backward
    pass of the last layer: the gradient of the output matrix waits for that of the embedding. That
    of the first layer: with all gradients but the root's, and the copy in single precision of the
    layer's before it, which is reduced. Tied matrices: both gradients and their sum. The reduction
    of the root: its gradient and the copy of that in single precision.
    """
    layers = model.num_layers
    trained = units.root_trained + layers * units.layer_trained
    reduced = memory.gradients * (layers * units.layer_trained / trained if trained else 0.0)
    copied = SINGLE * units.layer_trained
    output = HALF * units.output_trained
    loss = parts.kept + parts.logits + units.root
    last = parts.kept + parts.working + units.root + units.layer + output
    first = parts.kept / layers + parts.working + units.root + units.layer + output
    tied = units.root + 3 * output if model.tied_embeddings else 0.0
    return (
        loss,
        last + copied,
        first + copied + reduced,
        tied + copied + reduced,
        memory.gradients + SINGLE * units.root_trained,
    )


def _units(model: Model, plan: Plan, training: Training, buffers: Bytes) -> _Units:
    root, layer = gathered_end_bytes(model, plan), gathered_layer_bytes(model, plan)
    gathers = 1.0 if buffers else 0.0  # FSDP1 gathers nothing on one rank
    output = embedding_parameters(model) if model.tied_embeddings else output_parameters(model)
    trained = 0.0 if training.lora_rank else 1.0
    adapters = adapter_parameters(model, plan, training.lora_rank, 1, training.lora_layers)
    return _Units(
        root=gathers * root,
        layer=gathers * layer,
        root_trained=trained * root / HALF,
        layer_trained=trained * layer / HALF + adapters,
        output_trained=trained * output / plan.tensor_parallel,
    )
