"""The gradient of a real model, tensor by tensor: how DDP packs it, and when each part is ready.

Source: Li et al. 2020; PyTorch 2.13, `torch/nn/parallel/distributed.py` and `reducer.cpp`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import Model, head_size
from engine.core.units import Bytes, Count, MiB, Parameters, Share
from engine.formulas.parameters import norm_parameters, output_parameters

# PyTorch's defaults: the first bucket is small, so that communication begins early.
FIRST_BUCKET: Bytes = 1 * MiB
BUCKET: Bytes = 25 * MiB
EMBEDDING, NORM, OUTPUT = "embedding", "final norm", "output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """A parameter tensor.

    Attributes:
        name: as in a checkpoint, without its layer.
        layer: from 1; 0 for the embedding, one more than there are layers for the output.
        parameters: in it.
        work: parameters that are multiplied when its gradient is computed; the input embedding
            only looks up.
    """

    name: str
    layer: Count
    parameters: Parameters
    work: Parameters

    @property
    def title(self) -> str:
        """What a sentence calls it."""
        own = self.name in (EMBEDDING, NORM, OUTPUT)
        return self.name if own else f"layer {self.layer} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Gradients that travel together.

    Attributes:
        number: from 1, in the order of their all-reduces.
        tensors: in it.
        ready: place, in the order of the backward pass, of the last tensor that completes it.
    """

    number: Count
    tensors: tuple[Tensor, ...]
    ready: Count

    @property
    def parameters(self) -> Parameters:
        """In all of its tensors."""
        return sum(tensor.parameters for tensor in self.tensors)


@lru_cache(maxsize=16)
def registered(model: Model) -> tuple[Tensor, ...]:
    """Return the tensors of a dense model in the order of `model.parameters()`.

    Raises:
        ValueError: the model has experts, latents or biases.
    """
    if model.num_experts or model.attention != "mha" or model.biases:
        raise ValueError(f"{model.name} is not a dense model without biases")
    hidden, layers = model.hidden_size, model.num_layers
    query = model.num_attention_heads * head_size(model) * hidden
    shared = model.num_key_value_heads * head_size(model) * hidden
    wide, norm = hidden * model.ffn_hidden_size, norm_parameters(model)
    names = ("gate_proj", "up_proj", "down_proj") if model.mlp == "swiglu" else ("up", "down")
    shapes: dict[str, Parameters] = {"q_proj": query, "k_proj": shared, "v_proj": shared}
    shapes |= {"o_proj": query, **dict.fromkeys(names, wide), "norm 1": norm, "norm 2": norm}
    own = [
        Tensor(name=name, layer=layer, parameters=float(size), work=float(size))
        for layer in range(1, layers + 1)
        for name, size in shapes.items()
    ]
    table = float(output_parameters(model))
    ends = [Tensor(name=NORM, layer=layers + 1, parameters=float(norm), work=float(norm))]
    if not model.tied_embeddings:
        ends.append(Tensor(name=OUTPUT, layer=layers + 1, parameters=table, work=table))
    return (Tensor(name=EMBEDDING, layer=0, parameters=table, work=0.0), *own, *ends)


def ready_order(model: Model) -> tuple[Tensor, ...]:
    """Return the tensors in the order in which the backward pass completes their gradients.

    That of the forward pass, backward. An embedding that is also the output layer gets the first
    part of its gradient first, but the last part last.
    """
    return tuple(reversed(registered(model)))


def packed(
    model: Model, element: Bytes, cap: Bytes = BUCKET, first: Bytes = 0.0, *, ready: bool = True
) -> tuple[Bucket, ...]:
    """Return the buckets: a bucket is closed by the tensor that brings it to its limit or beyond.

    Args:
        model: whose gradients they are.
        element: bytes of a gradient.
        cap: limit of a bucket.
        first: limit of the first one; 0: like the others.
        ready: packed in the order of the backward pass, not in that of the forward pass.
    """
    order = ready_order(model)
    place = {tensor: at for at, tensor in enumerate(order)}
    found: list[Bucket] = []
    held: list[Tensor] = []
    size = 0.0
    for tensor in order if ready else registered(model):
        held.append(tensor)
        size += tensor.parameters * element
        if size >= (first if first and not found else cap):
            found.append(_bucket(len(found) + 1, held, place))
            held, size = [], 0.0
    if held:
        found.append(_bucket(len(found) + 1, held, place))
    return tuple(found)


def _bucket(number: Count, held: Sequence[Tensor], place: dict[Tensor, int]) -> Bucket:
    ready = max(place[tensor] for tensor in held)
    return Bucket(number=number, tensors=tuple(held), ready=ready)


def work_shares(model: Model) -> tuple[Share, ...]:
    """Return the share of the backward pass that each tensor takes, in the order of readiness.

    A tied output layer's products come before all others and are counted with the last norm.
    """
    order = ready_order(model)
    works = [tensor.work for tensor in order]
    if model.tied_embeddings:
        works[0] += output_parameters(model)
    total = sum(works)
    return tuple(work / total for work in works)
