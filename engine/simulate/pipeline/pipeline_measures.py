"""What is read off a pipeline's step: idle time in both conventions, and activations held."""

from collections.abc import Sequence
from math import fsum

from engine.core.pipeline_op import BACKWARD, FORWARD, PAIR, WEIGHT, Op
from engine.core.units import Count, Ratio, Seconds, Share
from engine.simulate.pipeline.pipeline import Run, Times, simulate


def idle_share(run: Run, step: Seconds) -> Share:
    """Return the bubble as a share of the step: of all ranks' time, what was not computing."""
    return 1 - fsum(run.busy) / (len(run.busy) * step)


def idle_over_ideal(run: Run, step: Seconds) -> Ratio:
    """Return the bubble over the ideal: idle time over computing time."""
    return len(run.busy) * step / fsum(run.busy) - 1


def peak_activations(run: Run) -> tuple[Ratio, ...]:
    """Return the most activations each rank holds; 1 is its whole share of one micro-batch."""
    return tuple(peak / run.program.num_parts for peak in run.program.peaks)


def layers_of_ranks(run: Run, layers: Sequence[Count]) -> tuple[Count, ...]:
    """Return how many layers each rank holds, copies counted, of a model cut into these parts."""
    return tuple(sum(layers[place] for place in places) for places in run.program.places)


def peak_layers(run: Run, layers: Sequence[Count]) -> tuple[Count, ...]:
    """Return the most layers' activations of a micro-batch that each rank holds at a time."""
    return tuple(
        _most([layers[place] for place in places], order)
        for places, order in zip(run.program.places, run.program.orders, strict=True)
    )


def _most(layers: Sequence[Count], order: Sequence[Op]) -> Count:
    held = most = 0
    for op in order:
        if op.kind in (FORWARD, PAIR):
            held += layers[op.chunk]
            most = max(most, held)
        if op.kind == PAIR:
            held -= layers[op.back_chunk]
        elif op.kind in (BACKWARD, WEIGHT):
            held -= layers[op.chunk]
    return most


def activations(run: Run, rank: int) -> tuple[tuple[Seconds, ...], tuple[Ratio, ...]]:
    """Return when the activations that a rank holds change, and to how many; each holds on."""
    times, counts, before = [0.0], [0.0], 0
    for op, held, start, end in zip(
        run.program.orders[rank],
        run.program.held[rank],
        run.starts[rank],
        run.ends[rank],
        strict=True,
    ):
        high = held + 1 if op.kind == PAIR else held
        for at, count in ((start, high), (end, held)) if high > before else ((end, held),):
            if at - times[-1] <= 1e-9 * end:
                # Let go and taken up at once: nothing that lasts.
                counts[-1] = count / run.program.num_parts
            elif count != counts[-1] * run.program.num_parts:
                times.append(at)
                counts.append(count / run.program.num_parts)
        before = held
    return tuple(times), tuple(counts)


# A pass of one stage over one micro-batch: forward and backward, all stages alike.
_ALIKE = Times(forward=1.0, backward_input=1.0, backward_weight=1.0, pair=3.0)
_MOST_PASSES = 3000


def steps_in_passes(schedule: str, pipeline_parallel: Count) -> tuple[tuple[Count, Ratio], ...]:
    """Return (micro-batches, step in passes of one stage) for 1, 2, 4, ... micro-batches, played.

    It ends at 1024, or where playing all of them would take a reader's time to speak of.
    """
    found: list[tuple[Count, Ratio]] = []
    whole = _ALIKE.forward + _ALIKE.backward_input + _ALIKE.backward_weight
    left = _MOST_PASSES
    for exponent in range(11):
        num_microbatches = 2**exponent
        left -= 2 * pipeline_parallel * num_microbatches
        if found and left < 0:
            break
        run = simulate(schedule, pipeline_parallel, num_microbatches, 1, _ALIKE)
        found.append((num_microbatches, run.period / whole))
    return tuple(found)
