"""Training with checkpoints: only the input of every few layers is kept, the rest is made again.

What a layer computes inside is made again from its input anyway (`engine.tiny.parts`). Here the
inputs of the layers between two checkpoints are dropped too, and made again, a segment at a time,
when the backward pass reaches them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from engine.basis.units import Count
from engine.catalog.models import TINY_260, Model
from engine.tiny.job import example_batch, initial
from engine.tiny.layout import EMBEDDING, OUTPUT, flatten, layer_name, unflatten
from engine.tiny.matrix import Matrix, Vector
from engine.tiny.parts import backward, forward, loss, tokens_of
from engine.tiny.single import gradient_of

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


@lru_cache(maxsize=128)
def train(num_layers: Count, every: Count) -> Checkpointed:
    """Return one pass with the input of every `every`-th layer kept."""
    model = deep(num_layers)
    vector = initial(model)
    count = sum(len(one) - 1 for one in BATCH)
    alone = gradient_of(model, vector, BATCH, count)[1]
    return _run(model, vector, every, count, alone)


def _run(
    model: Model, vector: Vector, every: Count, count: Count, alone: Sequence[float]
) -> Checkpointed:
    parameters, tokens = unflatten(model, vector), tokens_of(BATCH, count)
    last = model.num_layers
    held: dict[int, Matrix] = {}
    events: list[Event] = []
    repeated = 0

    def note(kind: str, layer: int) -> None:
        numbers = sum(len(row) for rows in held.values() for row in rows)
        events.append(Event(kind=kind, layer=layer, held=tuple(sorted(held)), numbers=numbers))

    def run(layer: int, rows: Matrix) -> Matrix:
        return forward(model, layer_name(layer), parameters[layer_name(layer)], rows, tokens)

    rows = forward(model, EMBEDDING, parameters[EMBEDDING], [], tokens)
    for layer in range(last):
        if layer % every == 0:
            held[layer] = rows
        note("forward", layer)
        rows = run(layer, rows)
    total = loss(parameters[OUTPUT], rows, tokens)
    gradient, weights = backward(model, OUTPUT, parameters[OUTPUT], rows, tokens, [])
    found = {OUTPUT: weights}
    note("backward", last)
    for layer in reversed(range(last)):
        start = layer - layer % every
        for again in range(start, layer):
            if again + 1 not in held:
                held[again + 1] = run(again, held[again])
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
        loss=total,
        gradient=flat,
        events=tuple(events),
        repeated=repeated,
        off=max(abs(one - two) for one, two in zip(flat, alone, strict=True)),
    )
