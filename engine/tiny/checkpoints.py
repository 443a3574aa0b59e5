"""Training with checkpoints: only the input of every few layers is kept, the rest is made again.

What a layer computes inside is made again from its input anyway (`engine.tiny.parts`). Here the
inputs of the layers between two checkpoints are dropped too, and made again, a segment at a time,
when the backward pass reaches them.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from engine.catalog.models import TINY_260, Model
from engine.core.units import Count
from engine.tiny.job import example_batch, initial_parameters
from engine.tiny.layout import EMBEDDING, OUTPUT, Parameters, flatten, layer_name, unflatten
from engine.tiny.matrix import Matrix, Vector
from engine.tiny.parts import Tokens, backward, forward, token_rows
from engine.tiny.single import ForwardPass, backward_all, forward_all

BATCH = example_batch(2, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointEvent:
    """One event of a checkpointed pass, and the layer inputs held after it.

    Attributes:
        kind: "forward", "again", "backward".
        layer: from 0; the number of layers stands for the output layer.
        held: layers whose input is held.
        numbers: of all of them together.
    """

    kind: str
    layer: Count
    held: tuple[int, ...]
    numbers: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointedPass:
    """A forward and a backward pass with activation checkpoints.

    Attributes:
        loss: of the batch.
        gradient: of all parameters.
        events: in order.
        repeated: layers that ran forward a second time.
        off: the largest difference of the gradient from one that keeps every layer's input.
    """

    loss: float
    gradient: Vector
    events: tuple[CheckpointEvent, ...]
    repeated: Count
    off: float

    @property
    def most(self) -> Count:
        """The most layer inputs held at once."""
        return max(len(event.held) for event in self.events)

    @property
    def numbers(self) -> Count:
        """The most numbers held at once."""
        return max(event.numbers for event in self.events)


def deeper_model(num_layers: Count) -> Model:
    """Return the tiny model with more layers."""
    return replace(TINY_260, name=f"tiny-{num_layers}-layers", num_layers=num_layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FullPass:
    """A pass that keeps the input of every layer, shared as the forward pass of all others."""

    parameters: Parameters
    tokens: Tokens
    passed: ForwardPass
    gradient: Vector


@lru_cache(maxsize=16)
def _full_pass(model: Model) -> _FullPass:
    parameters = unflatten(model, initial_parameters(model))
    tokens = token_rows(BATCH, sum(len(sequence) - 1 for sequence in BATCH))
    passed = forward_all(model, parameters, tokens)
    gradient = flatten(model, dict(backward_all(model, parameters, tokens, passed)))
    return _FullPass(parameters=parameters, tokens=tokens, passed=passed, gradient=gradient)


@lru_cache(maxsize=128)
def train(num_layers: Count, every: Count) -> CheckpointedPass:
    """Return one pass with the input of every `every`-th layer kept."""
    model = deeper_model(num_layers)
    kept = _full_pass(model)
    parameters, tokens, passed = kept.parameters, kept.tokens, kept.passed
    inputs: dict[int, Matrix] = {}
    events: list[CheckpointEvent] = []
    repeated = 0

    def note(kind: str, layer: int) -> None:
        numbers = sum(len(row) for rows in inputs.values() for row in rows)
        events.append(
            CheckpointEvent(kind=kind, layer=layer, held=tuple(sorted(inputs)), numbers=numbers)
        )

    for layer in range(num_layers):
        if layer % every == 0:
            inputs[layer] = passed.rows[layer_name(layer)]
        note("forward", layer)
    rows = passed.rows[OUTPUT]
    gradient, weights = backward(model, OUTPUT, parameters[OUTPUT], rows, tokens, [])
    gradients = {OUTPUT: weights}
    note("backward", num_layers)
    for layer in reversed(range(num_layers)):
        start = layer - layer % every
        for again in range(start, layer):
            if again + 1 not in inputs:
                name = layer_name(again)
                inputs[again + 1] = forward(model, name, parameters[name], inputs[again], tokens)
                repeated += 1
                note("again", again)
        name = layer_name(layer)
        gradient, gradients[name] = backward(
            model, name, parameters[name], inputs[layer], tokens, gradient
        )
        note("backward", layer)
        del inputs[layer]
    _, gradients[EMBEDDING] = backward(
        model, EMBEDDING, parameters[EMBEDDING], [], tokens, gradient
    )
    flat = flatten(model, gradients)
    return CheckpointedPass(
        loss=passed.loss,
        gradient=flat,
        events=tuple(events),
        repeated=repeated,
        off=max(abs(value - expected) for value, expected in zip(flat, kept.gradient, strict=True)),
    )
