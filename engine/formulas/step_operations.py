"""Operations of a training step, counted by a published convention."""

from engine.catalog.flop_conventions import STEP_MODEL, Counting
from engine.catalog.models import Model
from engine.core.units import Operations
from engine.formulas.operations import MULTIPLY_ADD, attention_operations, up_projections
from engine.formulas.parameters import matrix_parameters
from engine.formulas.token_operations import counted_pairs, token_operations
from engine.run.parallelism import Training, recomputed_share


def model_operations(
    model: Model, training: Training, counting: Counting = STEP_MODEL
) -> Operations:
    """Return the operations of one step by a convention: all ranks, recomputation not counted.

    Frozen weights have no gradient: two of a weight's three products are left (Hu et al. 2021).
    """
    tokens = training.global_batch_size * training.sequence_length
    each = token_operations(model, training.sequence_length, counting)
    frozen = MULTIPLY_ADD * matrix_parameters(model) if training.lora_rank else 0.0
    return tokens * (each - frozen)


def hardware_operations(
    model: Model, training: Training, counting: Counting = STEP_MODEL
) -> Operations:
    """Return the operations of one step by a convention, recomputation counted."""
    tokens = training.global_batch_size * training.sequence_length
    attention = attention_operations(model, training.sequence_length, counted_pairs(counting))
    again: Operations = 0.0
    if training.recompute == "full":
        output = MULTIPLY_ADD * model.vocab_size * model.hidden_size
        again = MULTIPLY_ADD * matrix_parameters(model) - output + attention
        again *= recomputed_share(model.num_layers, training)
    elif training.recompute == "selective":
        again = attention
    elif training.recompute == "modules":
        again = MULTIPLY_ADD * up_projections(model)
    return model_operations(model, training, counting) + tokens * again
