"""Layout of the model's parameters in one flat vector, tensor after tensor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from engine.catalog.models import Model, head_size
from engine.core.units import Count
from engine.tiny.matrix import Matrix, Vector, flatten_rows, split_rows

EMBEDDING, OUTPUT = "embedding", "output"

Weights = dict[str, Matrix]
Parameters = dict[str, Weights]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """One weight matrix; a vector has one row.

    Attributes:
        part: "embedding", "layer 0", ..., "output": what is computed, sent or gathered as a whole.
        name: within its part.
        rows, columns: its shape, [inputs, outputs]; of the two vocabularies [tokens, hidden size].
        start: of its first number in the flat vector.
    """

    part: str
    name: str
    rows: Count
    columns: Count
    start: Count

    @property
    def size(self) -> Count:
        """The number of its parameters."""
        return self.rows * self.columns


def layer_name(index: int) -> str:
    """Return the name of a layer's part."""
    return f"layer {index}"


def part_names(model: Model) -> tuple[str, ...]:
    """Return the parts in the order of the forward pass."""
    return (EMBEDDING, *map(layer_name, range(model.num_layers)), OUTPUT)


@cache
def tensors(model: Model) -> tuple[Tensor, ...]:
    """Return all tensors in the order of the flat vector."""
    placed: list[Tensor] = []
    start = 0
    for part in part_names(model):
        for name, (rows, columns) in _shapes(model, part).items():
            placed.append(Tensor(part=part, name=name, rows=rows, columns=columns, start=start))
            start += rows * columns
    return tuple(placed)


def _shapes(model: Model, part: str) -> dict[str, tuple[Count, Count]]:
    hidden, vocabulary = model.hidden_size, model.vocab_size
    if part == EMBEDDING:
        return {"tokens": (vocabulary, hidden)}
    if part == OUTPUT:
        return {"norm": (1, hidden), "vocabulary": (vocabulary, hidden)}
    width = model.num_attention_heads * head_size(model)
    shapes = {
        "attention_norm": (1, hidden),
        "query": (hidden, width),
        "key": (hidden, width),
        "value": (hidden, width),
        "out": (width, hidden),
        "mlp_norm": (1, hidden),
    }
    if not model.num_experts:
        return shapes | _feed_forward(hidden, model.ffn_hidden_size)
    shapes["router"] = (hidden, model.num_experts)
    for expert in range(model.num_experts):
        expert_shapes = _feed_forward(hidden, model.expert_ffn_hidden_size)
        shapes |= {f"{name} {expert}": shape for name, shape in expert_shapes.items()}
    return shapes


def _feed_forward(hidden: Count, width: Count) -> dict[str, tuple[Count, Count]]:
    return {"gate": (hidden, width), "up": (hidden, width), "down": (width, hidden)}


def num_parameters(model: Model) -> Count:
    """Return the number of parameters."""
    return tensors(model)[-1].start + tensors(model)[-1].size


@cache
def part_range(model: Model, part: str) -> range:
    """Return the places of a part in the flat vector."""
    part_tensors = [tensor for tensor in tensors(model) if tensor.part == part]
    return range(part_tensors[0].start, part_tensors[-1].start + part_tensors[-1].size)


def weights_of(model: Model, part: str, vector: Sequence[float]) -> Weights:
    """Return the weights of one part from its flat vector."""
    first = part_range(model, part).start
    return {
        tensor.name: split_rows(
            vector[tensor.start - first : tensor.start - first + tensor.size], tensor.columns
        )
        for tensor in tensors(model)
        if tensor.part == part
    }


def vector_of(model: Model, part: str, weights: Mapping[str, Matrix]) -> Vector:
    """Return the flat vector of one part."""
    names = [tensor.name for tensor in tensors(model) if tensor.part == part]
    return [number for name in names for number in flatten_rows(weights[name])]


def unflatten(model: Model, vector: Sequence[float]) -> Parameters:
    """Return the weights of all parts from the flat vector."""
    parameters = {}
    for part in part_names(model):
        indices = part_range(model, part)
        parameters[part] = weights_of(model, part, vector[indices.start : indices.stop])
    return parameters


def flatten(model: Model, parameters: Mapping[str, Mapping[str, Matrix]]) -> Vector:
    """Return all weights as one flat vector."""
    return [
        number for part in part_names(model) for number in vector_of(model, part, parameters[part])
    ]
