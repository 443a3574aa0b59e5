"""Gradient buckets in the order of the backward pass."""

import math
from dataclasses import dataclass

from engine.core.units import Bytes, Count, Share
from engine.simulate.streams.workload import Workload, layer_gradient


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerBucket:
    """A bucket of gradient tensors of one or more layers.

    Attributes:
        number: from 1, in the order of the backward pass.
        layers: that have a tensor in it.
        last: the layer whose backward pass completes it.
        share: of that pass, after which it is complete.
        tensors: in it.
    """

    number: Count
    layers: range
    last: Count
    share: Share
    tensors: Count


def pack_layer_buckets(work: Workload, cap: Bytes) -> list[LayerBucket]:
    """Return the gradient buckets; each is closed by the tensor that reaches `cap` bytes.

    Source: Li et al. 2020. Limit: PyTorch's first bucket is smaller (1 MiB), and its tensors are
    not equal.
    """
    tensor_bytes = layer_gradient(work) / work.tensors
    total = work.layers * work.tensors
    tensors_per_bucket = max(1, math.ceil(min(cap / tensor_bytes, total) - 1e-9))
    packed = []
    for number, start in enumerate(range(0, total, tensors_per_bucket), start=1):
        end = min(start + tensors_per_bucket, total)
        newest, inside = divmod(end - 1, work.tensors)
        last = work.layers - 1 - newest
        packed.append(
            LayerBucket(
                number=number,
                layers=range(last, work.layers - start // work.tensors),
                last=last,
                share=(inside + 1) / work.tensors,
                tensors=end - start,
            )
        )
    return packed


def bucket_parameters(work: Workload, bucket: LayerBucket) -> float:
    """Return the number of parameters in a bucket."""
    return work.parameters * bucket.tensors / work.tensors
