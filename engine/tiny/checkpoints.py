"""Training with checkpoints: only the input of every few layers is kept, the rest is made again.

What a layer computes inside is made again from its input anyway (`engine.tiny.parts`). Here the
inputs of the layers between two checkpoints are dropped too, and made again, a segment at a time,
when the backward pass reaches them.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from engine.catalog.models import TINY_260, Model
from engine.core.units import Count
from engine.tiny.job import example_batch, initial
from engine.tiny.layout import EMBEDDING, OUTPUT, Parameters, flatten, layer_name, unflatten
from engine.tiny.matrix import Matrix, Vector
from engine.tiny.parts import Tokens, backward, forward, tokens_of
from engine.tiny.single import Passed, backward_all, forward_all

BATCH = example_batch(2, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened, and what is held after it.

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
class Checkpointed:
    """A forward and a backward pass.

    Attributes:
        loss: of the batch.
        gradient: of all parameters.
        events: in order.
        repeated: layers that ran forward a second time.
        off: the largest difference of the gradient from one that keeps every layer's input.
    """

    loss: float
    gradient: Vector
    events: tuple[Event, ...]
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


def deep(num_layers: Count) -> Model:
    """Return the tiny model with more layers."""
    return replace(TINY_260, name=f"tiny-{num_layers}-layers", num_layers=num_layers)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A pass that keeps the input of every layer; its way forward is that of every other pass."""

    parameters: Parameters
    tokens: Tokens
    passed: Passed
    gradient: Vector


@lru_cache(maxsize=16)
def _kept(model: Model) -> _Kept:
    parameters = unflatten(model, initial(model))
    tokens = tokens_of(BATCH, sum(len(one) - 1 for one in BATCH))
    passed = forward_all(model, parameters, tokens)
    gradient = flatten(model, dict(backward_all(model, parameters, tokens, passed)))
    return _Kept(parameters=parameters, tokens=tokens, passed=passed, gradient=gradient)


@lru_cache(maxsize=128)
def train(num_layers: Count, every: Count) -> Checkpointed:
    """Return one pass with the input of every `every`-th layer kept."""
    model = deep(num_layers)
    kept = _kept(model)
    parameters, tokens, passed = kept.parameters, kept.tokens, kept.passed
    held: dict[int, Matrix] = {}
    events: list[Event] = []
    repeated = 0

    def note(kind: str, layer: int) -> None:
        numbers = sum(len(row) for rows in held.values() for row in rows)
        events.append(Event(kind=kind, layer=layer, held=tuple(sorted(held)), numbers=numbers))

    for layer in range(num_layers):
        if layer % every == 0:
            held[layer] = passed.rows[layer_name(layer)]
        note("forward", layer)
    rows = passed.rows[OUTPUT]
    gradient, weights = backward(model, OUTPUT, parameters[OUTPUT], rows, tokens, [])
    found = {OUTPUT: weights}
    note("backward", num_layers)
    for layer in reversed(range(num_layers)):
        start = layer - layer % every
        for again in range(start, layer):
            if again + 1 not in held:
                name = layer_name(again)
                held[again + 1] = forward(model, name, parameters[name], held[again], tokens)
                repeated += 1
                note("again", again)
        name = layer_name(layer)
        gradient, found[name] = backward(
            model, name, parameters[name], held[layer], tokens, gradient
        )
        note("backward", layer)
        del held[layer]
    _, found[EMBEDDING] = backward(model, EMBEDDING, parameters[EMBEDDING], [], tokens, gradient)
    flat = flatten(model, found)
    return Checkpointed(
        loss=passed.loss,
        gradient=flat,
        events=tuple(events),
        repeated=repeated,
        off=max(abs(one - two) for one, two in zip(flat, kept.gradient, strict=True)),
    )
