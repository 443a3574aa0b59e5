"""The activations of a rank over one step, layer by layer: what is there after how much work.

The forward pass leaves the kept tensors of every layer. In the backward pass each layer first
makes again what was dropped, then needs room for its gradients, then frees everything. The fullest
moment is that of `engine.simulate.memory.memory`.
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
class Moment:
    """A moment of the step.

    Attributes:
        done: operations of the rank since the step began.
        held: activations, and what the running layer works with.
        phase: "forward", "logits", "again", "backward", "freed".
        layer: that is at work, from 0; the number of layers stands for the output layer.
    """

    done: Operations
    held: Bytes
    phase: str
    layer: Count


def memory_over_step(
    model: Model, plan: Plan, training: Training, layer: SavedLayer, dropped: frozenset[str]
) -> tuple[Moment, ...]:
    """Return the moments of one micro-batch's passes; all layers drop the same tensors."""
    kept, again = layer.kept(dropped), layer.again(dropped)
    gradients = local_tokens(plan, training) * gradients_of_layer(model, plan)
    logits, output = logits_memory(model, plan, training), output_gemm(model, plan, training)
    done, held = 0.0, embedding_kept(model, plan, training)
    found = [Moment(done=done, held=held, phase="forward", layer=0)]

    def add(phase: str, number: Count, work: Operations, extra: Bytes = 0.0) -> None:
        nonlocal done
        done += work
        found.append(Moment(done=done, held=held + extra, phase=phase, layer=number))

    for number in range(model.num_layers):
        held += kept
        add("forward", number, layer.forward)
    add("logits", model.num_layers, output.operations, logits.kept + logits.working)
    add("logits", model.num_layers, BACKWARD * output.operations, logits.kept + logits.working)
    add("freed", model.num_layers, 0.0)
    for number in reversed(range(model.num_layers)):
        full = layer.size - kept + gradients
        add("again", number, again, full)
        add("backward", number, BACKWARD * layer.forward, full)
        held -= kept
        add("freed", number, 0.0)
    return tuple(found)


def peak(moments: tuple[Moment, ...]) -> Moment:
    """Return the fullest moment, the first of them."""
    return max(moments, key=lambda one: one.held)
