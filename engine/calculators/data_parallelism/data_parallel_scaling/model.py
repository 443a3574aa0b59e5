"""A data-parallel step on n GPUs, for the scaling curves."""

from dataclasses import dataclass

from engine.basis.units import Bandwidth, Bytes, Count, Ratio, Seconds, Share, Tokens
from engine.calculators.data_parallelism.data_parallel_scaling.inputs import Inputs
from engine.catalog.hardware import GPUS
from engine.formulas.overlap import backward_time, bucket_count, compute_time, exposed_time
from engine.formulas.stragglers import slowest_with_one_slow
from engine.formulas.transfer_time import all_reduce_time

GPUS_PER_NODE = 8
ELEMENT: Bytes = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A step on n GPUs.

    Attributes:
        tokens: per GPU.
        compute: of a GPU that waits for none.
        communication: the all-reduce of all buckets, alone.
        exposed: what the step waits for it.
        slowest: of n computing times, over the mean one.
    """

    tokens: Tokens
    compute: Seconds
    communication: Seconds
    exposed: Seconds
    slowest: Ratio

    @property
    def step(self) -> Seconds:
        """The slowest GPU's computation and what is exposed."""
        return self.slowest * self.compute + self.exposed

    @property
    def efficiency(self) -> Share:
        """The share of its speed alone that a GPU keeps."""
        return self.compute / self.step


def point(inputs: Inputs, num_gpus: Count, mode: str, slowest: Ratio | None = None) -> Point:
    """Return the step; `slowest` saves the work where it is known."""
    tokens = float(inputs.tokens) if mode == "weak" else inputs.batch / num_gpus
    peak = GPUS[inputs.gpu].peak["bf16"]
    work = inputs.parameters, tokens, inputs.utilization, peak
    size = inputs.parameters * ELEMENT
    buckets = bucket_count(size, inputs.bucket) if inputs.overlap else 1
    nodes = -(-num_gpus // GPUS_PER_NODE)
    one = all_reduce_time(size / buckets, num_gpus, nodes, bandwidth(inputs, num_gpus))
    communication = buckets * one
    passes = max(1, round(tokens / inputs.micro_batch))
    hidden_by = backward_time(*work) / passes if inputs.overlap else 0.0
    if slowest is None:
        slowest = slowest_with_one_slow(num_gpus, inputs.deviation, inputs.slower)
    return Point(
        tokens=tokens,
        compute=compute_time(*work),
        communication=communication,
        exposed=exposed_time(communication, hidden_by, buckets),
        slowest=slowest,
    )


def bandwidth(inputs: Inputs, num_gpus: Count) -> Bandwidth:
    """Return the bus bandwidth of an all-reduce over n GPUs: NVLink, or a node's ports together."""
    if num_gpus <= GPUS_PER_NODE:
        return inputs.scale_up
    return min(inputs.scale_up, inputs.ports_per_node * inputs.port)
