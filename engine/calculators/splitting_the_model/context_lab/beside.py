"""What stands beside the reader's run: other ways, ranks and lengths, and what was measured."""

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
from engine.simulate.collectives.measured_ring import modelled_rate
from engine.simulate.layer.attention_masks import Layout
from engine.simulate.layer.measured_attention import rates
from engine.simulate.step.context_job import (
    ContextJob,
    Way,
    added,
    hidden_up_to,
    layer_without,
    step_ratio,
)

RANKS = tuple(1 << power for power in range(1, 9))
LAYOUTS: tuple[Layout, ...] = ("contiguous", "striped", "zigzag")
# Rows and columns of the map double, over all that a reader can set.
ROWS = tuple(1 << power for power in range(MOST.bit_length()))
COLUMNS = tuple(1 << power for power in range(LENGTHS[0].bit_length() - 1, LENGTHS[1].bit_length()))
# Way of getting keys and values, buffers of its ring.
_HELD = {
    **{f"b{n}": ("ring", n) for n in (1, 2, 3, 4)},
    "gather": ("gather", 2),
    "swap": ("swap", 2),
}
_POINTS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What a way of getting keys and values adds to a layer, forward and backward together."""

    waits: Seconds
    merged: Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Up to how many ranks the ring hides over the length, on NVLink and on the network."""

    lengths: tuple[Tokens, ...]
    near: tuple[Ratio, ...]
    far: tuple[Ratio, ...]


def way_of(job: ContextJob, way: str, layout: str, num_buffers: Count) -> Added:
    """Return what a way adds to a layer."""
    waits, merged = added(job, cast(Way, way), cast(Layout, layout), num_buffers)
    return Added(waits=sum(waits), merged=sum(merged))


def blocks_of(job: ContextJob, way: str, num_buffers: Count) -> Count:
    """Return the blocks of keys and values that a GPU holds of one layer."""
    ranks = job.plan.context_parallel
    if ranks == 1:
        return 0
    if way == "ring":
        return num_buffers
    if way == "gather":
        return ranks
    # All tokens of its own heads, of which there is one at least.
    return max(1, round(ranks / job.scores.key_value_heads))


def buffers_of(job: ContextJob, width: Count, element: Bytes) -> dict[str, Bytes]:
    """Return the keys and values of others that each way holds; "b3" is a ring of three buffers."""
    tokens = job.scores.queries
    return {
        key: ring_buffer(tokens, width, element, blocks_of(job, way, many))
        for key, (way, many) in _HELD.items()
    }


def ratios(inputs: Inputs, job: ContextJob) -> tuple[tuple[Ratio, ...], tuple[Ratio, ...]]:
    """Return computing over sending of a ring step at `RANKS`: on the cluster, all on NVLink."""
    inside = [job_of(inputs, ranks).ring.group.nodes == 1 for ranks in RANKS]
    return (
        tuple(step_ratio(job, n, inside=near) for n, near in zip(RANKS, inside, strict=True)),
        tuple(step_ratio(job, n, inside=True) for n in RANKS),
    )


def hidden(inputs: Inputs) -> Hidden:
    """Return where overlap ends, over all lengths that a reader can set."""
    low, high = LENGTHS
    lengths = [round(low * (high / low) ** (i / (_POINTS - 1))) for i in range(_POINTS)]
    jobs = [job_of(inputs, length=length) for length in lengths]
    near, far = (
        tuple(hidden_up_to(job, inside=inside, most=MOST) for job in jobs)
        for inside in (True, False)
    )
    return Hidden(lengths=tuple(map(float, lengths)), near=near, far=far)


def exposed(job: ContextJob) -> Share:
    """Return the share of a layer that waits and merges: a ring in a zig-zag, two buffers."""
    waits = sum(map(sum, added(job, "ring")))
    return waits / (waits + layer_without(job))


def exposed_map(inputs: Inputs) -> tuple[tuple[Share, ...], ...]:
    """Return it for `ROWS` of ranks and `COLUMNS` of lengths."""
    return tuple(
        tuple(exposed(job_of(inputs, ranks, length)) for length in COLUMNS) for ranks in ROWS
    )


def rings() -> tuple[tuple[Ratio, ...], ...]:
    """Return the modeled rate of each measured ring in each of `LAYOUTS`."""
    return tuple(tuple(modelled_rate(row, layout) for layout in LAYOUTS) for row in MEASURED_RINGS)


def attentions() -> tuple[tuple[FlopRate, ...], ...]:
    """Return the rate of each attention timed: forward and modeled, backward and modeled."""
    return tuple((*rates(one, False), *rates(one, True)) for one in OWN_ATTENTIONS)
