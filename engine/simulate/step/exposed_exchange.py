"""Data-parallel collectives beside the passes of a step, in closed form.

Each formula is the length of a program of streams: collectives of equal units take turns on one
wire, passes of equal layers on one GPU. The tests play these programs (`engine.simulate.programs`)
and compare.
"""

from engine.core.record import record
from engine.core.units import Count, Seconds


@record
class ShardedUnits:
    """Passes and collectives of one micro-batch whose parameters are sharded, in equal units.

    Attributes:
        count: units that are gathered one by one: the layers, and embedding with output layer.
        forward: seconds of a unit's forward pass.
        backward: seconds of its backward pass.
        gather: seconds of its all-gather, forward and again backward.
        scatter: seconds of the reduce-scatter of its gradients.
        copy: seconds to all-reduce its shard over the replicas, on a wire of its own.
    """

    count: Count
    forward: Seconds
    backward: Seconds
    gather: Seconds
    scatter: Seconds
    copy: Seconds = 0.0


def sharded_time(units: ShardedUnits, microbatches: Count = 1) -> Seconds:
    """Return the time of all micro-batches of a step with sharded parameters.

    A unit is gathered while the one before it computes; one communicator carries gathers and
    reductions. The reduce-scatter behind a backward pass stands before the gather of the unit
    after the next, and a micro-batch gathers nothing before the last one has reduced all.

    Source: PyTorch's fully_shard, torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py:
    `pre_backward` gathers this unit and prefetches the next, `post_backward` reduces.
    """
    # Begin of the reduce-scatters of the last unit, of the one before the first, and of the first.
    begin = _reductions_begin(units)
    done = begin[-1] + units.scatter
    total = microbatches * done
    if units.copy:
        # The replicas' wire is busy without a break from one of these on.
        last = units.count - 1
        for place, start in zip((0, last - 1, last), begin, strict=True):
            behind = (units.count - max(0, place)) * units.copy
            later = (microbatches - 1) * max(done, units.count * units.copy)
            total = max(total, start + units.scatter + later + behind)
    return total


def _reductions_begin(units: ShardedUnits) -> tuple[Seconds, Seconds, Seconds]:
    """Return when the first, the last but one and the last reduce-scatter begin."""
    gather, scatter, backward = units.gather, units.scatter, units.backward
    turn = gather + units.count * max(units.forward, gather)
    if units.count == 1:
        only = turn + backward
        return only, only, only
    first = turn + max(backward, gather)
    before = first + (units.count - 2) * max(backward, gather + scatter)
    return first, before, before + max(backward, scatter)


def bucketed_wait(
    communication: Seconds, buckets: Count, computation: Seconds, last: Seconds = 0.0
) -> Seconds:
    """Return the exposed time of collectives of buckets beside the pass that fills them.

    Buckets are full at equal intervals, the last of them when the pass ends; each is reduced as
    soon as it is full and the wire is free. `last` is the part of `communication` of one more
    bucket, the embedding's, whose gradient is there when the pass ends. Gathers in front of a
    forward pass are the same, backwards.
    """
    each = (communication - last) / buckets
    return max(each + last, communication - computation * (1 - 1 / buckets))
