"""Gradient tensors of a model: DDP's bucket packing, and the order of readiness.

Source: Li et al. 2020; PyTorch 2.13, `torch/nn/parallel/distributed.py` and `reducer.cpp`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.catalog.models import Model, head_size
from engine.core.units import Bytes, Count, Parameters, Share
from engine.formulas.parameters import norm_parameters, output_parameters
from engine.run.software import DDP_BUCKET

EMBEDDING, NORM, OUTPUT = "embedding", "final norm", "output"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterTensor:
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
        """Name of the tensor in a sentence."""
        outside_layers = self.name in (EMBEDDING, NORM, OUTPUT)
        return self.name if outside_layers else f"layer {self.layer} {self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientBucket:
    """Gradients that are all-reduced together.

    Attributes:
        number: from 1, in the order of their all-reduces.
        tensors: in it.
        ready: place, in the order of the backward pass, of the last tensor that completes it.
    """

    number: Count
    tensors: tuple[ParameterTensor, ...]
    ready: Count

    @property
    def parameters(self) -> Parameters:
        """Number of parameters in all tensors of the bucket."""
        return sum(tensor.parameters for tensor in self.tensors)


@lru_cache(maxsize=16)
def registration_order(model: Model) -> tuple[ParameterTensor, ...]:
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
    layer_tensors = [
        ParameterTensor(name=name, layer=layer, parameters=float(size), work=float(size))
        for layer in range(1, layers + 1)
        for name, size in shapes.items()
    ]
    table = float(output_parameters(model))
    ends = [ParameterTensor(name=NORM, layer=layers + 1, parameters=float(norm), work=float(norm))]
    if not model.tied_embeddings:
        ends.append(ParameterTensor(name=OUTPUT, layer=layers + 1, parameters=table, work=table))
    return (
        ParameterTensor(name=EMBEDDING, layer=0, parameters=table, work=0.0),
        *layer_tensors,
        *ends,
    )


def backward_order(model: Model) -> tuple[ParameterTensor, ...]:
    """Return the tensors in the order in which backward completes their gradients.

    That of the forward pass, backward. An embedding that is also the output layer gets the first
    part of its gradient first, but the last part last.
    """
    return tuple(reversed(registration_order(model)))


def pack_buckets(
    model: Model, element: Bytes, cap: Bytes = DDP_BUCKET, first: Bytes = 0.0, *, ready: bool = True
) -> tuple[GradientBucket, ...]:
    """Return DDP's buckets; a bucket is closed by the tensor that reaches its limit.

    Args:
        model: whose gradients they are.
        element: bytes of a gradient.
        cap: limit of a bucket.
        first: limit of the first one; 0: like the others.
        ready: packed in the order of the backward pass, not in that of the forward pass.
    """
    order = backward_order(model)
    positions = {tensor: position for position, tensor in enumerate(order)}
    packed_buckets: list[GradientBucket] = []
    open_tensors: list[ParameterTensor] = []
    size = 0.0
    for tensor in order if ready else registration_order(model):
        open_tensors.append(tensor)
        size += tensor.parameters * element
        if size >= (first if first and not packed_buckets else cap):
            packed_buckets.append(_make_bucket(len(packed_buckets) + 1, open_tensors, positions))
            open_tensors, size = [], 0.0
    if open_tensors:
        packed_buckets.append(_make_bucket(len(packed_buckets) + 1, open_tensors, positions))
    return tuple(packed_buckets)


def _make_bucket(
    number: Count, tensors: Sequence[ParameterTensor], positions: dict[ParameterTensor, int]
) -> GradientBucket:
    ready = max(positions[tensor] for tensor in tensors)
    return GradientBucket(number=number, tensors=tuple(tensors), ready=ready)


def backward_shares(model: Model, *, output: bool = True) -> tuple[Share, ...]:
    """Return the share of the backward pass that each tensor takes, in the order of readiness.

    A tied output layer's products come before all others and are counted with the last norm.
    Without `output`, those of the output layer are spread over all tensors.
    """
    order = backward_order(model)
    works = [tensor.work if output or tensor.name != OUTPUT else 0.0 for tensor in order]
    if output and model.tied_embeddings:
        works[0] += output_parameters(model)
    total = sum(works)
    return tuple(work / total for work in works)
