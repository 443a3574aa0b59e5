"""The model behind the gradient sync lab: one data-parallel step, from inputs to times."""

from dataclasses import dataclass

from engine.basis.units import Bandwidth, Bytes, Seconds, Tokens
from engine.catalog.hardware import GPUS
from engine.form.sync.inputs import Inputs
from engine.formulas.communication import (
    in_network_all_reduce_time,
    ring_all_reduce_time,
    tree_all_reduce_time,
)
from engine.formulas.hierarchy import (
    flat_ring_bandwidth,
    hierarchical_all_reduce_time,
    node_bandwidth,
)
from engine.formulas.overlap import (
    backward_time,
    bucket_count,
    exposed_time,
    forward_time,
    gradient_size,
)

ELEMENT = {"fp32": 4.0, "bf16": 2.0, "fp8": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sync:
    """The step: sizes in bytes, times in seconds, bandwidths one way.

    `collective` is the all-reduce of the whole gradient in one piece, `communication` the same in
    buckets; `exposed` is what the step waits for.
    """

    size: Bytes
    num_nodes: int
    local: int
    bandwidth: Bandwidth
    algorithm: str
    collective: Seconds
    latency_part: Seconds
    num_buckets: int
    communication: Seconds
    forward: Seconds
    backward: Seconds
    compute: Seconds
    exposed: Seconds
    ideal_exposed: Seconds

    @property
    def step(self) -> Seconds:
        """Computation plus what it waits for."""
        return self.compute + self.exposed


@dataclass(frozen=True, slots=True, kw_only=True)
class Passes:
    """What a step computes and what it then waits for, at some number of tokens."""

    forward: Seconds
    backward: Seconds
    compute: Seconds
    exposed: Seconds
    ideal_exposed: Seconds


def model(inputs: Inputs) -> Sync:
    """Return the step for the given inputs."""
    size = gradient_size(inputs.parameters, ELEMENT[inputs.dtype])
    algorithm = chosen(inputs, size)
    collective = all_reduce_time(inputs, algorithm, size)
    bare = all_reduce_time(inputs, algorithm, size, latency=0.0)
    buckets = bucket_count(size, inputs.bucket)
    communication = collective
    if inputs.overlap:
        communication = buckets * all_reduce_time(inputs, algorithm, size / buckets)
    step = passes(inputs, inputs.tokens_per_gpu, collective, communication, buckets)
    return Sync(
        size=size,
        num_nodes=num_nodes(inputs),
        local=local_size(inputs),
        bandwidth=ring_bandwidth(inputs),
        algorithm=algorithm,
        collective=collective,
        latency_part=collective - bare,
        num_buckets=buckets,
        communication=communication,
        forward=step.forward,
        backward=step.backward,
        compute=step.compute,
        exposed=step.exposed,
        ideal_exposed=step.ideal_exposed,
    )


def passes(
    inputs: Inputs, tokens: Tokens, collective: Seconds, communication: Seconds, num_buckets: int
) -> Passes:
    """Return the step's times with `tokens` per GPU; the all-reduce is the same for any number."""
    work = inputs.parameters, tokens, inputs.utilization, GPUS[inputs.gpu].peak["bf16"]
    forward, backward = forward_time(*work), backward_time(*work)
    exposed = ideal = collective
    if inputs.overlap:
        exposed = _exposed(inputs, communication, num_buckets, forward, backward)
        ideal = max(0.0, collective - backward)
    return Passes(
        forward=forward,
        backward=backward,
        compute=inputs.accumulation * (forward + backward),
        exposed=exposed,
        ideal_exposed=ideal,
    )


def _exposed(
    inputs: Inputs, communication: Seconds, buckets: int, forward: Seconds, backward: Seconds
) -> Seconds:
    if inputs.sharding == "none":
        return exposed_time(communication, backward, buckets)
    # ZeRO-1 cuts the all-reduce in two: gradients are reduce-scattered behind the backward pass,
    # parameters gathered behind the next forward pass, in which the first bucket must be there
    # before its layer starts: the mirror image of the last bucket of the backward pass.
    half = communication / 2
    return exposed_time(half, backward, buckets) + exposed_time(half, forward, buckets)


def num_nodes(inputs: Inputs) -> int:
    """Return the nodes that the GPUs fill; a partly filled last node counts as a node."""
    return -(-inputs.world_size // inputs.gpus_per_node)


def local_size(inputs: Inputs) -> int:
    """Return the GPUs of the job in one node."""
    return min(inputs.world_size, inputs.gpus_per_node)


def ring_bandwidth(inputs: Inputs) -> Bandwidth:
    """Return the one-way bandwidth at which a ring through all GPUs runs, per rank."""
    if num_nodes(inputs) == 1:
        return inputs.scale_up
    if inputs.gpus_per_node == 1:
        return node_bandwidth(inputs.port, inputs.ports_per_node)
    return flat_ring_bandwidth(inputs.scale_up, inputs.port, inputs.ports_per_node)


def chosen(inputs: Inputs, size: Bytes) -> str:
    """Return the algorithm in use: the reader's, or the fastest that needs no switch's help."""
    if inputs.algorithm != "auto":
        return inputs.algorithm
    return min(
        ("ring", "tree", "hierarchical"), key=lambda name: all_reduce_time(inputs, name, size)
    )


def all_reduce_time(
    inputs: Inputs, algorithm: str, size: Bytes, latency: Seconds | None = None
) -> Seconds:
    """Return the time of one all-reduce of `size` bytes, by default with the inputs' latency."""
    step = inputs.latency if latency is None else latency
    wire = size, inputs.world_size, ring_bandwidth(inputs), step
    if algorithm == "tree":
        return tree_all_reduce_time(*wire)
    if algorithm == "in_network":
        return in_network_all_reduce_time(*wire)
    if algorithm == "hierarchical" and inputs.gpus_per_node > 1:
        return hierarchical_all_reduce_time(
            size,
            local_size(inputs),
            num_nodes(inputs),
            inputs.scale_up,
            step,
            node_bandwidth(inputs.port, inputs.ports_per_node),
            step,
        )
    return ring_all_reduce_time(*wire)
