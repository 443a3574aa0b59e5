"""Gradients packed into buckets in the order in which the backward pass finishes them."""

import math
from dataclasses import dataclass

from engine.core.units import Bytes, Count, Share
from engine.simulate.streams.workload import Workload, layer_gradient


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Some tensors of one or more layers.

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


def buckets(work: Workload, cap: Bytes) -> list[Bucket]:
    """Return the buckets; each is closed by the tensor that brings it to `cap` bytes or more.

    Source: Li et al. 2020. Limit: PyTorch's first bucket is smaller (1 MiB), and its tensors are
    not equal.
    """
    one = layer_gradient(work) / work.tensors
    total = work.layers * work.tensors
    each = max(1, math.ceil(min(cap / one, total) - 1e-9))
    found = []
    for number, start in enumerate(range(0, total, each), start=1):
        end = min(start + each, total)
        newest, inside = divmod(end - 1, work.tensors)
        last = work.layers - 1 - newest
        found.append(
            Bucket(
                number=number,
                layers=range(last, work.layers - start // work.tensors),
                last=last,
                share=(inside + 1) / work.tensors,
                tensors=end - start,
            )
        )
    return found


def bucket_parameters(work: Workload, bucket: Bucket) -> float:
    """Return the parameters whose gradients it holds."""
    return work.parameters * bucket.tensors / work.tensors
