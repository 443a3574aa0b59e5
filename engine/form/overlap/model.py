"""One job under five schedules: a stage of the pipeline on its streams, and what surrounds it."""

from dataclasses import dataclass, replace
from functools import lru_cache

from engine.basis import discover
from engine.basis.units import Bandwidth, Bytes, Count, Seconds
from engine.catalog.hardware import GPUS
from engine.catalog.models import MODELS
from engine.form.overlap.inputs import SCHEDULES, Inputs
from engine.formulas.parameters import dense_layer_parameters
from engine.formulas.stragglers import slowest_of
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.run.parallelism import Cluster, Plan, Training, chunk_sizes
from engine.simulate.layer_time import LayerTime, layer_time
from engine.simulate.rank import Rank, group_of, rank_of
from engine.simulate.stream_account import Account, account
from engine.simulate.streams import COMPUTE, NETWORK, SCALE_UP, Span, run
from engine.simulate.workload import Workload, nccl_wire

PROGRAMS = {
    "blocking": "flat_data_parallel",
    "buckets": "accumulation_no_sync",
    "sharded": "fully_sharded",
    "async": "fully_sharded",
    "paired": "paired_passes",
}
# What a micro-batch of a schedule does not depend on: it is played once for all values of these.
_NEVER = ("schedule", "num_microbatches", "deviation")
_UNUSED = {
    "blocking": (*_NEVER, "bucket", "prefetch", "reshard"),
    "buckets": (*_NEVER, "prefetch", "reshard"),
    "sharded": (*_NEVER, "bucket"),
    "async": (*_NEVER, "bucket"),
    "paired": (*_NEVER, "bucket"),
}
_DEFAULTS = Inputs()
_BLOCKS = 8  # of a stage, at most: units that are simulated and drawn
_MATRICES = 7  # of a layer
_BF16, _FP32 = 2.0, 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The job, whatever its schedule.

    Attributes:
        work: of one stage, in blocks of layers.
        layers: of a block.
        layer: times of one layer.
        stages: of the pipeline.
        world_size: GPUs.
        stream: that carries data parallelism.
        line_rate: of it.
    """

    work: Workload
    layers: Count
    layer: LayerTime
    stages: Count
    world_size: Count
    stream: str
    line_rate: Bandwidth


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One schedule: parts of a step, together `step`, and what its wires did.

    Attributes:
        spans: of the first two micro-batches.
        seen: their account.
        compute: alone.
        contention: what computation takes longer beside communication.
        first: exposed before the first computation.
        last: exposed after the last.
        between: exposed otherwise.
        bubble: the pipeline fills and drains.
        slowest: waiting for the slowest of all GPUs.
        communication: all of it, hidden or not.
        sent: bytes of data parallelism of one GPU.
        isolated: their time alone.
        waited: exposed time in which no tensor parallelism is under way.
    """

    spans: tuple[Span, ...]
    seen: Account
    compute: Seconds
    contention: Seconds
    first: Seconds
    last: Seconds
    between: Seconds
    bubble: Seconds
    slowest: Seconds
    communication: Seconds
    sent: Bytes
    isolated: Seconds
    waited: Seconds

    @property
    def exposed(self) -> Seconds:
        """Communication that the step waits for."""
        return self.first + self.between + self.last

    @property
    def residue(self) -> Seconds:
        """What the step takes longer than its computation alone."""
        return self.contention + self.exposed + self.bubble + self.slowest

    @property
    def step(self) -> Seconds:
        """All of it, the optimizer left out."""
        return self.compute + self.residue


def job(inputs: Inputs) -> Job:
    """Return the job that the inputs describe."""
    model = MODELS[inputs.model]
    tensor, stages = int(inputs.tensor_parallel), int(inputs.pipeline_parallel)
    cluster = Cluster(
        gpu=GPUS[inputs.gpu], gpus_per_node=8, nics_per_node=8, nic_bandwidth=inputs.port
    )
    plan = Plan(
        world_size=tensor * stages * inputs.data_parallel,
        tensor_parallel=tensor,
        pipeline_parallel=stages,
        sequence_parallel=tensor > 1,
    )
    training = Training(
        micro_batch_size=1,
        global_batch_size=inputs.data_parallel * inputs.num_microbatches,
        sequence_length=inputs.tokens,
    )
    rank = rank_of(cluster, training)
    times = layer_time(model, plan, training, rank, sparse=False)
    layers = max(chunk_sizes(model.num_layers, stages))
    count = max(number for number in range(1, _BLOCKS + 1) if layers % number == 0)
    block = layers // count
    group = group_of(rank, inputs.data_parallel, tensor)
    gather, sent = _tensor(rank, tensor, block, _BF16 * inputs.tokens * model.hidden_size)
    work = Workload(
        layers=count,
        forward=block * times.forward,
        backward=block * times.backward,
        parameters=block * dense_layer_parameters(model).matrices / tensor,
        data=nccl_wire(group.ranks, group.nodes, group.bandwidth),
        element=_BF16,
        gradient=_FP32 if inputs.fp32_gradients else _BF16,
        tensors=_MATRICES * block,
        bucket=inputs.bucket,
        prefetch=inputs.prefetch,
        reshard=inputs.reshard,
        slow_down=inputs.slow_down,
        tensor_gather=gather,
        tensor_size=sent,
    )
    return Job(
        work=work,
        layers=block,
        layer=times,
        stages=stages,
        world_size=plan.world_size,
        stream=work.data.stream,
        line_rate=(cluster.gpu.scale_up or cluster.gpu.pcie)
        if work.data.stream == SCALE_UP
        else inputs.port,
    )


def _tensor(rank: Rank, tensor: Count, layers: Count, size: Bytes) -> tuple[Seconds, Bytes]:
    """Return time and bytes of the gathers of one pass of a block: attention and MLP, one each."""
    group = group_of(rank, tensor, 1)
    one = scatter_or_gather_time(size, group.ranks, group.nodes, group.bandwidth)
    sent = (tensor - 1) / tensor * size
    return 2 * layers * one, 2 * layers * sent


def outcomes(inputs: Inputs, work: Job) -> dict[str, Outcome]:
    """Return every schedule's step."""
    return {name: outcome(inputs, work, name) for name in SCHEDULES}


def outcome(inputs: Inputs, work: Job, name: str) -> Outcome:
    """Count every micro-batch after the second as what the second added."""
    late = slowest_of(work.world_size, inputs.deviation) - 1
    key = replace(inputs, **{field: getattr(_DEFAULTS, field) for field in _UNUSED[name]})
    _, first = _played(name, key, 1)
    two, second = _played(name, key, min(inputs.num_microbatches, 2))
    grown = Growth(first, second, max(0, inputs.num_microbatches - 2))
    started, ended = _ends(two)
    exposed = grown.of("exposed")
    # What is exposed while NVLink is busy too, tensor parallelism is to blame for.
    inside = grown.of_stream(SCALE_UP, "exposed") if work.stream == NETWORK else 0.0
    compute, contention = grown.of("compute"), grown.of("contention")
    each = second.length - first.length if inputs.num_microbatches > 1 else first.length
    return Outcome(
        spans=two,
        seen=second,
        compute=compute,
        contention=contention,
        first=started,
        last=ended,
        between=max(0.0, exposed - started - ended),
        bubble=_bubble(work, name, each),
        slowest=late * (compute + contention),
        communication=grown.of("communication"),
        sent=grown.of_stream(work.stream, "sent"),
        isolated=grown.of_stream(work.stream, "busy"),
        waited=max(0.0, exposed - inside),
    )


@lru_cache(maxsize=64)
def _played(name: str, inputs: Inputs, count: Count) -> tuple[tuple[Span, ...], Account]:
    """Return the run of so many micro-batches of a schedule, and its account."""
    pieces = int(inputs.tensor_parallel) if name in ("async", "paired") else 1
    work = replace(job(inputs).work, tensor_chunks=pieces, num_microbatches=count)
    spans = run(discover.module("engine.simulate.programs", PROGRAMS[name]).program(work))
    return spans, account(spans)


@dataclass(frozen=True, slots=True)
class Growth:
    """Accounts of one and two micro-batches, and how many more there are."""

    one: Account
    two: Account
    more: Count

    def of(self, part: str) -> float:
        """Return a part of the whole step."""
        second = getattr(self.two, part)
        return float(second + self.more * (second - getattr(self.one, part)))

    def of_stream(self, stream: str, part: str) -> float:
        """Return a figure of one stream for the whole step; 0 if nothing runs there."""
        if stream not in self.two.streams:
            return 0.0
        second = getattr(self.two.streams[stream], part)
        before = getattr(self.one.streams[stream], part)
        return max(0.0, float(second + self.more * (second - before)))


def _ends(spans: tuple[Span, ...]) -> tuple[Seconds, Seconds]:
    """Return how long nothing is computed yet, and how long nothing is computed any more."""
    computing = [span for span in spans if span.op.stream == COMPUTE]
    length = max(span.end for span in spans)
    return computing[0].start, max(0.0, length - max(span.end for span in computing))


def _bubble(work: Job, name: str, each: Seconds) -> Seconds:
    """Return what the pipeline waits to fill and drain; `each` is the time of a micro-batch.

    1F1B: (p - 1)(F + B) (Narayanan et al. 2021). Paired as in DualPipe: (p/2 - 1)(F&B + B - 3W),
    F&B a pair of passes, B a whole backward pass, W its part for the weights (DualPipe 2025).
    """
    if name != "paired":
        return (work.stages - 1) * each
    count = work.work.layers * work.layers
    backward, weights = count * work.layer.backward, count * work.layer.weight_gradient
    return max(0.0, work.stages / 2 - 1) * max(0.0, each + backward - 3 * weights)


def streams(work: Job) -> tuple[str, ...]:
    """Return the streams that a reader sees, from top to bottom."""
    names = [COMPUTE]
    if work.work.tensor_gather or work.stream == SCALE_UP:
        names.append(SCALE_UP)
    if work.stream == NETWORK:
        names.append(NETWORK)
    return tuple(names)
