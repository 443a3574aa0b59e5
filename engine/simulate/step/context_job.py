"""Context parallelism: cost of exchanging keys and values per layer, step time and memory."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from engine.catalog.flop_conventions import Counting
from engine.catalog.models import Model
from engine.core.units import Bytes, Count, FlopRate, Ratio, Seconds
from engine.formulas.axes import tensor_layer_bytes
from engine.formulas.operations import (
    Scores,
    attention_scores,
    local_tokens,
)
from engine.formulas.send_time import send_time
from engine.formulas.step_operations import model_operations
from engine.formulas.volumes import context_ring_bytes_sent, tensor_passes
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.attention_masks import Layout
from engine.simulate.layer.context_exchange import (
    HALF,
    PassTimes,
    Ring,
    context_ring,
    gather_times,
    ulysses_bytes,
    ulysses_times,
)
from engine.simulate.layer.device_model import RankRates, rank_rates
from engine.simulate.layer.layer_time import attention_core, layer_time
from engine.simulate.layer.ring_layouts import ring_waits
from engine.simulate.memory.allocator import Memory, usable_bytes
from engine.simulate.memory.memory import rank_memory
from engine.simulate.step.step_time import StepTime, step_time

ContextMethod = Literal["ring", "gather", "swap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextJob:
    """A training run with context parallelism.

    Attributes:
        model: of the run.
        cluster: of the run.
        plan: of the run.
        training: of the run.
        element: bytes of an element of the keys and values that travel.
    """

    model: Model
    cluster: Cluster
    plan: Plan
    training: Training
    element: Bytes = HALF

    @property
    def rank(self) -> RankRates:
        """Device model of a rank."""
        return rank_rates(self.cluster, self.training)

    @property
    def scores(self) -> Scores:
        """Attention sizes of one layer on one rank."""
        return attention_scores(self.model, self.plan, self.training)

    @property
    def attention_time(self) -> PassTimes:
        """Attention time with evenly balanced query-key pairs, forward and backward."""
        return attention_core(self.model, self.scores, self.training, self.rank)

    @property
    def ring(self) -> Ring:
        """Ring exchange of one layer."""
        return context_ring(self.scores, self.plan, self.training, self.rank, self.element)


def added_attention_time(
    job: ContextJob, method: ContextMethod, layout: Layout = "zigzag", num_buffers: Count = 2
) -> tuple[PassTimes, PassTimes]:
    """Return the attention time that a method adds: (waits, merging), each forward and backward.

    All that an all-gather or an all-to-all takes is waited for, and nothing has to be merged. The
    layout matters to the all-gather as well: the busiest rank sets the pace.
    """
    if job.plan.context_parallel == 1:
        return (0.0, 0.0), (0.0, 0.0)
    if method == "swap":
        return ulysses_times(job.scores, job.plan, job.rank), (0.0, 0.0)
    ring = job.ring
    if method == "ring":
        return ring_waits(ring, job.attention_time, layout, num_buffers), ring.merged
    gathered = gather_times(job.scores, job.plan, job.rank)
    computing_ring = replace(ring, hop=0.0)
    imbalance = ring_waits(computing_ring, job.attention_time, layout)
    return (gathered[0] + imbalance[0], gathered[1] + imbalance[1]), (0.0, 0.0)


def allowed_methods(job: ContextJob) -> Mapping[ContextMethod, bool]:
    """Return whether each method can run: Ulysses divides a tensor rank's query heads."""
    heads = job.model.num_attention_heads // job.plan.tensor_parallel
    return {"ring": True, "gather": True, "swap": heads % job.plan.context_parallel == 0}


def layer_time_without_context(job: ContextJob) -> Seconds:
    """Return the layer time, forward and backward, without context parallelism's communication."""
    sparse = bool(job.model.num_experts)
    layer = layer_time(job.model, job.plan, job.training, job.rank, sparse=sparse)
    return layer.total - layer.context_parallel


def ring_overlap_ratio(job: ContextJob, ranks: Ratio, *, inside: bool) -> Ratio:
    """Return compute time over send time of one ring step, forward.

    Over `ranks` ranks, any real number, in a zig-zag; hops inside a node or between nodes.
    """
    scores, rank = job.scores, job.rank
    shard = replace(scores, queries=scores.keys / ranks)
    compute_time = attention_core(job.model, shard, job.training, rank)[0] / ranks
    width = shard.key_value_heads * (shard.head_size + shard.value_head_size)
    block = job.element * shard.sequences * shard.queries * width
    nodes = 1 if inside else 2
    return compute_time / send_time(
        block, rank.scale_up if inside else rank.port, nodes, rank.network
    )


def most_hidden_ranks(job: ContextJob, *, inside: bool, limit: Count) -> Ratio:
    """Return the largest number of ranks whose ring is hidden, from 1 to `limit`."""
    low, high = 1.0, float(limit)
    if ring_overlap_ratio(job, high, inside=inside) >= 1:
        return high
    for _ in range(20):
        middle = (low * high) ** 0.5
        if ring_overlap_ratio(job, middle, inside=inside) >= 1:
            low = middle
        else:
            high = middle
    return low


def layer_bytes_sent(job: ContextJob) -> Mapping[str, Bytes]:
    """Return the bytes that a rank sends per layer, forward and backward, by method.

    Tensor parallelism with and without its sequence parallelism, and the ways of context
    parallelism; an all-gather and a reduce-scatter move what a ring moves.
    """
    plan, ranks = job.plan, job.plan.context_parallel
    tokens = local_tokens(plan, job.training)
    swapped = sum(ulysses_bytes(job.scores, ranks)) * (ranks - 1) / ranks
    ring_bytes = context_ring_bytes_sent(job.ring.block, 1, ranks)
    tensor_bytes: dict[str, Bytes] = {
        name: tensor_layer_bytes(
            tokens,
            job.model.hidden_size,
            plan.tensor_parallel,
            tensor_passes(sequence_parallel=scattered),
        )
        for name, scattered in (("tensor", False), ("sequence", True))
    }
    return {**tensor_bytes, "ring": ring_bytes, "gather": ring_bytes, "swap": 2 * swapped}


def context_step_time(job: ContextJob) -> StepTime:
    """Return the step time with the defaults of all pages: zig-zag ring, two buffers, 16 bits."""
    return step_time(job.model, job.cluster, job.plan, job.training)


def peak_memory(job: ContextJob) -> tuple[Memory, Bytes]:
    """Return the memory of the fullest rank and the usable memory of its GPU."""
    peak = rank_memory(job.model, job.plan, job.training)
    return peak, usable_bytes(job.cluster.gpu.memory)


def achieved_rate(job: ContextJob, step: StepTime, counting: Counting) -> FlopRate:
    """Return the model's operations per second per GPU by a convention."""
    return model_operations(job.model, job.training, counting) / step.total / job.plan.world_size
