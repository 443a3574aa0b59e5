"""Activation memory of a rank over one step, layer by layer.

The forward pass leaves the kept tensors of every layer. In the backward pass each layer first
makes again what was dropped, then needs room for its gradients, then frees everything. The fullest
moment is the peak of `engine.simulate.memory.memory`.
"""

from dataclasses import dataclass

from engine.catalog.models import Model
from engine.core.units import Bytes, Count, Operations
from engine.formulas.activations import embedding_kept, gradients_of_layer, logits_memory
from engine.formulas.operations import local_tokens, output_gemm
from engine.run.parallelism import Plan, Training
from engine.simulate.memory.saved_tensors import SavedLayer

BACKWARD = 2.0  # products of the backward pass for each of the forward pass


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMoment:
    """Activation memory at one moment of the step.

    Attributes:
        done: operations of the rank since the step began.
        activations: activations, and working memory of the running layer.
        phase: "forward", "logits", "again", "backward", "freed".
        layer: running layer, from 0; the number of layers stands for the output layer.
    """

    done: Operations
    activations: Bytes
    phase: str
    layer: Count


def memory_over_step(
    model: Model, plan: Plan, training: Training, layer: SavedLayer, dropped: frozenset[str]
) -> tuple[MemoryMoment, ...]:
    """Return the moments of one micro-batch's passes, with the same dropped tensors per layer."""
    kept, repeated = layer.kept(dropped), layer.again(dropped)
    gradients = local_tokens(plan, training) * gradients_of_layer(model, plan)
    logits, output = logits_memory(model, plan, training), output_gemm(model, plan, training)
    done, activations = 0.0, embedding_kept(model, plan, training)
    moments = [MemoryMoment(done=done, activations=activations, phase="forward", layer=0)]

    def add(phase: str, number: Count, work: Operations, extra: Bytes = 0.0) -> None:
        nonlocal done
        done += work
        moments.append(
            MemoryMoment(done=done, activations=activations + extra, phase=phase, layer=number)
        )

    for number in range(model.num_layers):
        activations += kept
        add("forward", number, layer.forward)
    add("logits", model.num_layers, output.operations, logits.kept + logits.working)
    add("logits", model.num_layers, BACKWARD * output.operations, logits.kept + logits.working)
    add("freed", model.num_layers, 0.0)
    for number in reversed(range(model.num_layers)):
        full = layer.size - kept + gradients
        add("again", number, repeated, full)
        add("backward", number, BACKWARD * layer.forward, full)
        activations -= kept
        add("freed", number, 0.0)
    return tuple(moments)


def peak_moment(moments: tuple[MemoryMoment, ...]) -> MemoryMoment:
    """Return the first moment with the peak memory."""
    return max(moments, key=lambda moment: moment.activations)
