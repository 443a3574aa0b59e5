"""Allocator blocks left by weights created in single precision and then cast to 16 bits.

PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp) takes the smallest free block that
is large enough, splits it, and gives no block back while a part of it is in use. Casting a model
parameter by parameter puts each copy into the block of the parameter before it, of which half stays
free. So all blocks stay, 4 bytes for each parameter. Small tensors fill the free halves; tensors
larger than those need blocks of their own. Weights that are loaded in 16 bits leave nothing.
"""

from engine.catalog.models import Model
from engine.core.units import Bytes
from engine.formulas.activations import HALF, SINGLE
from engine.formulas.operations import local_tokens
from engine.formulas.parameters import output_parameters, total_parameters
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.allocator import Memory


def cast_leftover_bytes(model: Model) -> Bytes:
    """Return the bytes of blocks after creating a model in single precision and casting it.

    The copy of the first parameter, the embedding, finds no free block. If the embedding is tied,
    it takes that of the output matrix, which was made and thrown away.
    """
    first = SINGLE if model.tied_embeddings else HALF
    return SINGLE * total_parameters(model) + first * output_parameters(model)


def reserved_after_cast(
    model: Model, plan: Plan, training: Training, memory: Memory, *, trapped: bool
) -> Bytes:
    """Return the reserved bytes of one rank that trains adapters beside cast weights.

    Either all that is there beside the weights fits into the free halves but the logits, or it
    needs more than these. `trapped`: adapters and frozen weights lie in one unit of FSDP1, see
    `engine.simulate.layer.adapters`. Its vectors of a layer are larger than any free half, and the
    block of a gradient, which another stream reads, is not free yet when the next step makes its
    logits.
    """
    leftover, logits = cast_leftover_bytes(model), _logits(model, plan, training, trapped=trapped)
    if trapped:
        return leftover + memory.parameters + memory.gradients + memory.optimizer + logits
    trained = memory.parameters - HALF * total_parameters(model) + memory.optimizer
    inputs = _inputs(model, plan, training)
    return max(memory.reserved, leftover + trained + logits + inputs)


def _logits(model: Model, plan: Plan, training: Training, *, trapped: bool) -> Bytes:
    """Return the bytes of the loss: three copies in single precision; compiled, two in 16 bits.

    The eager logits in 16 bits come on top. What is free as a whole takes up as many as fit: the
    block of the matrix that was thrown away, or, in FSDP1, the logits in 16 bits where the ends of
    the model were.
    """
    half = HALF * local_tokens(plan, training) * model.vocab_size
    compiled = training.compiled and not training.eager_loss
    blocks = [half, half] if compiled else [2 * half] * 3 + [half]
    whole = SINGLE * output_parameters(model)
    if trapped:
        return sum(blocks) - (half if half <= whole else 0.0)
    room = whole if model.tied_embeddings else 0.0
    beyond = 0.0
    for block in blocks:
        if block <= room:
            room -= block
        else:
            beyond += block
    return beyond


def _inputs(model: Model, plan: Plan, training: Training) -> Bytes:
    """Return the inputs of all layers if one is larger than half a matrix and nothing else stays.

    Without recomputation a layer has many tensors, and `Memory.reserved` is the larger number.
    """
    tokens = local_tokens(plan, training)
    if training.recompute != "full" or tokens <= model.ffn_hidden_size:
        return 0.0
    return HALF * tokens * model.hidden_size * model.num_layers
