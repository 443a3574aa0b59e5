"""A long sequence over many ranks: what its keys and values cost in a layer, a step and memory."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from engine.catalog.models import Model
from engine.core.units import Bytes, Count, FlopRate, Ratio, Seconds, Share, Tokens
from engine.formulas.axes import tensor_layer_bytes
from engine.formulas.operations import (
    Scores,
    attention_scores,
    local_tokens,
    model_operations,
)
from engine.formulas.send_time import send_time
from engine.formulas.volumes import context_ring_bytes_sent, tensor_passes
from engine.run.parallelism import Cluster, Plan, Training
from engine.simulate.layer.attention_masks import Layout
from engine.simulate.layer.context_exchange import (
    HALF,
    Both,
    Ring,
    gather_times,
    ring_of,
    swap_bytes,
    swap_times,
)
from engine.simulate.layer.device_model import Rank, rank_of
from engine.simulate.layer.layer_time import attention_core, layer_time
from engine.simulate.layer.ring_layouts import ring_waits
from engine.simulate.memory.allocator import Memory, usable
from engine.simulate.memory.memory import memory
from engine.simulate.step.step_time import StepTime, step_time

Way = Literal["ring", "gather", "swap"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextJob:
    """A run whose sequences are cut over ranks.

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
    def rank(self) -> Rank:
        """What a rank can do."""
        return rank_of(self.cluster, self.training)

    @property
    def scores(self) -> Scores:
        """The attention of one layer on one rank."""
        return attention_scores(self.model, self.plan, self.training)

    @property
    def core(self) -> Both:
        """The time of that attention, its pairs evenly dealt, forward and backward."""
        return attention_core(self.model, self.scores, self.training, self.rank)

    @property
    def ring(self) -> Ring:
        """The ring of one layer."""
        return ring_of(self.scores, self.plan, self.training, self.rank, self.element)


def added(
    job: ContextJob, way: Way, layout: Layout = "zigzag", num_buffers: Count = 2
) -> tuple[Both, Both]:
    """Return what a way adds to a layer's attention: (waits, merging), each forward and backward.

    All that an all-gather or an all-to-all takes is waited for, and nothing has to be merged. The
    layout matters to the all-gather as well: the busiest rank sets the pace.
    """
    if job.plan.context_parallel == 1:
        return (0.0, 0.0), (0.0, 0.0)
    if way == "swap":
        return swap_times(job.scores, job.plan, job.rank), (0.0, 0.0)
    ring = job.ring
    if way == "ring":
        return ring_waits(ring, job.core, layout, num_buffers), ring.merged
    gathered = gather_times(job.scores, job.plan, job.rank)
    still = replace(ring, hop=0.0)
    uneven = ring_waits(still, job.core, layout)
    return (gathered[0] + uneven[0], gathered[1] + uneven[1]), (0.0, 0.0)


def ways_allowed(job: ContextJob) -> Mapping[Way, bool]:
    """Return whether each way can run: Ulysses deals a tensor rank's query heads to the ranks."""
    heads = job.model.num_attention_heads // job.plan.tensor_parallel
    return {"ring": True, "gather": True, "swap": heads % job.plan.context_parallel == 0}


def layer_without(job: ContextJob) -> Seconds:
    """Return one layer, forward and backward, without what context parallelism adds."""
    sparse = bool(job.model.num_experts)
    found = layer_time(job.model, job.plan, job.training, job.rank, sparse=sparse)
    return found.total - found.context_parallel


def step_ratio(job: ContextJob, ranks: Ratio, *, inside: bool) -> Ratio:
    """Return how long a step of the ring computes over the way of its block, forward.

    Over `ranks` ranks, any real number, in a zig-zag; hops inside a node or between nodes.
    """
    scores, rank = job.scores, job.rank
    own = replace(scores, queries=scores.keys / ranks)
    each = attention_core(job.model, own, job.training, rank)[0] / ranks
    width = own.key_value_heads * (own.head_size + own.value_head_size)
    block = job.element * own.sequences * own.queries * width
    nodes = 1 if inside else 2
    return each / send_time(block, rank.scale_up if inside else rank.port, nodes, rank.network)


def hidden_up_to(job: ContextJob, *, inside: bool, most: Count) -> Ratio:
    """Return the number of ranks up to which the ring hides, at most `most`, at least 1."""
    low, high = 1.0, float(most)
    if step_ratio(job, high, inside=inside) >= 1:
        return high
    for _ in range(20):
        middle = (low * high) ** 0.5
        if step_ratio(job, middle, inside=inside) >= 1:
            low = middle
        else:
            high = middle
    return low


def hidden_from(job: ContextJob, *, inside: bool) -> Tokens:
    """Return the tokens of a rank from which the ring hides, at this sequence length."""
    return job.training.sequence_length / hidden_up_to(job, inside=inside, most=1 << 20)


def sent(job: ContextJob) -> Mapping[str, Bytes]:
    """Return what a rank sends in a layer, forward and backward, by the name of the method.

    Tensor parallelism with and without its sequence parallelism, and the ways of context
    parallelism; an all-gather and a reduce-scatter move what a ring moves.
    """
    plan, ranks = job.plan, job.plan.context_parallel
    tokens = local_tokens(plan, job.training)
    swapped = sum(swap_bytes(job.scores, ranks)) * (ranks - 1) / ranks
    around = context_ring_bytes_sent(job.ring.block, 1, ranks)
    found: dict[str, Bytes] = {
        name: tensor_layer_bytes(
            tokens,
            job.model.hidden_size,
            plan.tensor_parallel,
            tensor_passes(sequence_parallel=scattered),
        )
        for name, scattered in (("tensor", False), ("sequence", True))
    }
    return {**found, "ring": around, "gather": around, "swap": 2 * swapped}


def whole_step(job: ContextJob) -> StepTime:
    """Return the step, as every other page has it: a ring, a zig-zag, two buffers, 16 bits."""
    return step_time(job.model, job.cluster, job.plan, job.training)


def held(job: ContextJob) -> tuple[Memory, Bytes]:
    """Return the memory of the fullest rank, and what can be used of it."""
    found = memory(job.model, job.plan, job.training)
    return found, usable(job.cluster.gpu.memory, job.training)


def reached(job: ContextJob, step: StepTime, visible: Share = 1.0) -> FlopRate:
    """Return the model's operations per second per GPU; published rates count all pairs."""
    return model_operations(job.model, job.training, visible) / step.total / job.plan.world_size
