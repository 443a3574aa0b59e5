"""Key-value exchange of context parallelism, and its exposed time.

Three ways: around a ring, behind the attention to the keys at hand (Liu et al. 2023); gathered
before the attention (Llama 3); or an all-to-all that gives each rank all tokens of some heads
(Ulysses). The step time knows the ring.
"""

from collections.abc import Mapping

from engine.core.record import record
from engine.core.units import Bandwidth, Bytes, Count, Seconds
from engine.formulas.operations import Scores, local_tokens
from engine.formulas.send_time import send_time
from engine.formulas.transfer_time import scatter_and_gather_time, scatter_or_gather_time
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.device_model import RankGroup, RankRates, rank_group
from engine.simulate.layer.expert_exchange import TokenRoutes, exchange_tokens

# Kernels of each further step of a ring, forward and backward, beside its attention: half sequences
# made contiguous, the merge of results and of normalizers, gradients added (Transformer Engine's
# AttnFuncWithCPAndKVP2P of context_parallel.py).
RING_KERNELS: tuple[Count, Count] = (5, 8)

PassTimes = tuple[Seconds, Seconds]  # forward, backward

HALF: Bytes = 2.0
# Bytes per element of the attention's result that each further step of a ring of keys and values
# moves to merge what it found with the steps before, forward and backward. Fused: read and write in
# 16 bits, and the gradients; unfused: in fp32, kernel by kernel (ring-flash-attention).
MERGE_BYTES: Mapping[bool, tuple[Bytes, Bytes]] = {True: (5.0, 8.0), False: (32.0, 42.0)}


@record
class Ring:
    """A ring of keys and values for one layer.

    Attributes:
        block: bytes of the keys and values of a rank.
        hop: time of a block from one rank to the next.
        steps: hops of a block, forward.
        merged: time to merge the results of the steps, forward and backward.
        group: ranks of the ring.
    """

    block: Bytes
    hop: Seconds
    steps: Count
    merged: PassTimes
    group: RankGroup

    @property
    def sending(self) -> PassTimes:
        """Time of all hops without overlap; backward the gradients go round as well."""
        return self.steps * self.hop, 2 * self.steps * self.hop


def context_ring(
    scores: Scores, plan: Plan, training: Training, rank: RankRates, element: Bytes = HALF
) -> Ring:
    """Return the ring of a layer; keys and values have `element` bytes per element."""
    ranks = plan.context_parallel
    width = scores.key_value_heads * (scores.head_size + scores.value_head_size)
    block = element * scores.sequences * scores.queries * width
    group = rank_group(rank, ranks, plan.tensor_parallel, "context")
    steps = ranks - 1
    merged = steps * scores.sequences * scores.heads * scores.queries * scores.value_head_size
    each = MERGE_BYTES[training.compiled]
    return Ring(
        block=block,
        hop=send_time(block, _hop_bandwidth(rank, group), min(2, group.nodes), rank.network),
        steps=steps,
        merged=(
            merged * each[0] / rank.memory + steps * RING_KERNELS[0] * rank.common.kernel_gap,
            merged * each[1] / rank.memory + steps * RING_KERNELS[1] * rank.common.kernel_gap,
        ),
        group=group,
    )


def _hop_bandwidth(rank: RankRates, group: RankGroup) -> Bandwidth:
    """Return the bandwidth of one hop of a ring: of links, or of the rank's own port."""
    return rank.scale_up if group.nodes == 1 else rank.port


def even_waits(ring: Ring, core: PassTimes) -> PassTimes:
    """Return the exposed time of a ring with equal computation per step, as in a zig-zag.

    Each of the hops hides behind the attention to the keys at hand, `core` in all. With less than
    two buffers nothing hides (`ring_layouts.ring_waits`).
    """
    hidden = ring.steps / (ring.steps + 1)
    forward, backward = ring.sending
    return max(0.0, forward - core[0] * hidden), max(0.0, backward - core[1] * hidden)


def context_parallel_time(
    scores: Scores, plan: Plan, training: Training, rank: RankRates, core: PassTimes
) -> Seconds:
    """Return the time that the key-value ring adds to the attention, forward and backward.

    The sequence is cut in a zig-zag; backward, keys, values and their gradients go round.
    """
    if plan.context_parallel == 1:
        return 0.0
    ring = context_ring(scores, plan, training, rank)
    waits = even_waits(ring, core)
    forward, backward = (wait + merge for wait, merge in zip(waits, ring.merged, strict=True))
    return forward * (1 if training.recompute in ("none", "modules") else 2) + backward


def redistribution_time(
    widths: tuple[Count, Count], plan: Plan, training: Training, rank: RankRates
) -> Seconds:
    """Return the all-to-alls of a layer without attention, forward and backward, all waited for.

    Each rank of context parallelism gets all tokens of some heads, and gives the results back:
    `widths` are the elements of a token on both ways (Megatron-Core's `mamba_context_parallel`).
    """
    if plan.context_parallel == 1:
        return 0.0
    group = rank_group(rank, plan.context_parallel, plan.tensor_parallel, "context")
    size = HALF * local_tokens(plan, training) / plan.tensor_parallel
    routes = TokenRoutes(copies=1, joined=False)
    times = (exchange_tokens(1.0, size * width, routes, rank, group).time for width in widths)
    return sum(times) * (2 if training.recompute in ("none", "modules") else 3)


def gathered_time(width: Count, plan: Plan, training: Training, rank: RankRates) -> Seconds:
    """Return the time of gathering `width` elements of every token, all of it waited for.

    Backward they are gathered again, and their gradients are summed by a reduce-scatter.
    """
    ranks = plan.context_parallel
    if ranks == 1:
        return 0.0
    group = rank_group(rank, ranks, plan.tensor_parallel, "context")
    whole = HALF * training.micro_batch_size * training.sequence_length * width
    ends = (ranks, group.nodes, group.bandwidth, group.network)
    forward = scatter_or_gather_time(whole, *ends)
    times = 1 if training.recompute in ("none", "modules") else 2
    return forward * times + scatter_and_gather_time(whole, *ends)


def gather_times(scores: Scores, plan: Plan, rank: RankRates) -> PassTimes:
    """Return the exposed all-gather of keys and values before the attention.

    Backward they are gathered again, and their gradients are summed by a reduce-scatter. Source:
    Llama 3 (Dubey et al. 2024, section 3.3.2), which gathers because any mask is then simple.
    """
    ranks = plan.context_parallel
    if ranks == 1:
        return 0.0, 0.0
    group = rank_group(rank, ranks, plan.tensor_parallel, "context")
    width = scores.key_value_heads * (scores.head_size + scores.value_head_size)
    whole = HALF * scores.sequences * scores.keys * width
    ends = (ranks, group.nodes, group.bandwidth, group.network)
    return scatter_or_gather_time(whole, *ends), scatter_and_gather_time(whole, *ends)


def ulysses_bytes(scores: Scores, ranks: Count) -> tuple[Bytes, Bytes]:
    """Return the all-to-all bytes of a rank: queries, keys and values, and later the results.

    A rank needs a key-value head at least: with more ranks than such heads they are repeated.
    """
    tokens = HALF * scores.sequences * scores.queries
    each = scores.head_size + scores.value_head_size
    keys = max(scores.key_value_heads, ranks) * each
    queries = scores.heads * scores.head_size
    return tokens * (queries + keys), tokens * scores.heads * scores.value_head_size


def ulysses_times(scores: Scores, plan: Plan, rank: RankRates) -> PassTimes:
    """Return the all-to-all time of Ulysses: queries, keys and values out, results back.

    Backward the gradients take the same ways. Source: Jacobs et al. 2023. All of it is waited for.
    """
    ranks = plan.context_parallel
    if ranks == 1:
        return 0.0, 0.0
    group = rank_group(rank, ranks, plan.tensor_parallel, "context")
    routes = TokenRoutes(copies=1, joined=False)
    sent, returned = ulysses_bytes(scores, ranks)
    time = sum(exchange_tokens(1.0, size, routes, rank, group).time for size in (sent, returned))
    return time, time
