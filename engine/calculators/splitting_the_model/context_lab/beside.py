"""Comparisons for the context-parallel run: other methods, ranks, lengths and measurements."""

from dataclasses import dataclass
from typing import cast

from engine.calculators.splitting_the_model.context_lab.inputs import (
    LENGTHS,
    MOST,
    Inputs,
    job_of,
)
from engine.catalog.measured_rings import MEASURED_RINGS
from engine.catalog.measured_timings import OWN_ATTENTIONS
from engine.core.units import Bytes, Count, FlopRate, Ratio, Seconds, Share, Tokens
from engine.formulas.context import ring_buffer
from engine.simulate.collectives.measured_ring import modeled_rate
from engine.simulate.layer.attention_masks import Layout
from engine.simulate.layer.measured_attention import measured_and_modeled_rates
from engine.simulate.step.context_job import (
    ContextJob,
    ContextMethod,
    added_attention_time,
    layer_time_without_context,
    most_hidden_ranks,
    ring_overlap_ratio,
)

RANKS = tuple(1 << power for power in range(1, 9))
LAYOUTS: tuple[Layout, ...] = ("contiguous", "striped", "zigzag")
# Rows and columns of the map double, over all that a reader can set.
ROWS = tuple(1 << power for power in range(MOST.bit_length()))
COLUMNS = tuple(1 << power for power in range(LENGTHS[0].bit_length() - 1, LENGTHS[1].bit_length()))
# Way of getting keys and values, buffers of its ring.
_KEPT_BLOCKS = {
    **{f"b{n}": ("ring", n) for n in (1, 2, 3, 4)},
    "gather": ("gather", 2),
    "swap": ("swap", 2),
}
_POINTS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """Time that a key-value exchange method adds to a layer, forward and backward together."""

    waits: Seconds
    merged: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Largest rank count of a hidden ring by length, on NVLink and on the network."""

    lengths: tuple[Tokens, ...]
    near: tuple[Ratio, ...]
    far: tuple[Ratio, ...]


def added_time(job: ContextJob, way: str, layout: str, num_buffers: Count) -> Added:
    """Return the time that an exchange method adds to a layer."""
    waits, merged = added_attention_time(
        job, cast(ContextMethod, way), cast(Layout, layout), num_buffers
    )
    return Added(waits=sum(waits), merged=sum(merged))


def kv_blocks(job: ContextJob, way: str, num_buffers: Count) -> Count:
    """Return how many key-value blocks of a layer a GPU holds."""
    ranks = job.plan.context_parallel
    if ranks == 1:
        return 0
    if way == "ring":
        return num_buffers
    if way == "gather":
        return ranks
    # All tokens of its own heads, of which there is one at least.
    return max(1, round(ranks / job.scores.key_value_heads))


def kv_buffers(job: ContextJob, width: Count, element: Bytes) -> dict[str, Bytes]:
    """Return remote key-value bytes per method; "b3" is a ring of three buffers."""
    tokens = job.scores.queries
    return {
        key: ring_buffer(tokens, width, element, kv_blocks(job, way, blocks))
        for key, (way, blocks) in _KEPT_BLOCKS.items()
    }


def ratios(inputs: Inputs, job: ContextJob) -> tuple[tuple[Ratio, ...], tuple[Ratio, ...]]:
    """Return compute time over send time of a ring step at `RANKS`: cluster and NVLink."""
    inside = [job_of(inputs, ranks).ring.group.nodes == 1 for ranks in RANKS]
    return (
        tuple(
            ring_overlap_ratio(job, n, inside=near) for n, near in zip(RANKS, inside, strict=True)
        ),
        tuple(ring_overlap_ratio(job, n, inside=True) for n in RANKS),
    )


def hidden(inputs: Inputs) -> Hidden:
    """Return the rank limit of overlap over all selectable sequence lengths."""
    low, high = LENGTHS
    lengths = [round(low * (high / low) ** (i / (_POINTS - 1))) for i in range(_POINTS)]
    jobs = [job_of(inputs, length=length) for length in lengths]
    near, far = (
        tuple(most_hidden_ranks(job, inside=inside, limit=MOST) for job in jobs)
        for inside in (True, False)
    )
    return Hidden(lengths=tuple(map(float, lengths)), near=near, far=far)


def exposed(job: ContextJob) -> Share:
    """Return the exposed share of a layer: a zig-zag ring with two buffers."""
    waits = sum(map(sum, added_attention_time(job, "ring")))
    return waits / (waits + layer_time_without_context(job))


def exposed_map(inputs: Inputs) -> tuple[tuple[Share, ...], ...]:
    """Return the exposed share for `ROWS` of ranks and `COLUMNS` of lengths."""
    return tuple(
        tuple(exposed(job_of(inputs, ranks, length)) for length in COLUMNS) for ranks in ROWS
    )


def ring_ratios() -> tuple[tuple[Ratio, ...], ...]:
    """Return the modeled rate of each measured ring in each of `LAYOUTS`."""
    return tuple(tuple(modeled_rate(row, layout) for layout in LAYOUTS) for row in MEASURED_RINGS)


def attention_rates() -> tuple[tuple[FlopRate, ...], ...]:
    """Return the measured and modeled rates of each attention, forward and backward."""
    return tuple(
        (*measured_and_modeled_rates(row, False), *measured_and_modeled_rates(row, True))
        for row in OWN_ATTENTIONS
    )
