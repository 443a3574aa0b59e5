"""Measures of a simulated pipeline step: bubble in both conventions, and activations."""

from collections.abc import Sequence
from math import fsum

from engine.core.pipeline_op import BACKWARD, FORWARD, PAIR, WEIGHT, Op
from engine.core.units import Count, Ratio, Seconds, Share
from engine.simulate.pipeline.pipeline import PipelineRun, PipelineTimes, simulate


def idle_share(run: PipelineRun, step: Seconds) -> Share:
    """Return the bubble as a share of the step time of all ranks."""
    return 1 - fsum(run.busy) / (len(run.busy) * step)


def idle_over_ideal(run: PipelineRun, step: Seconds) -> Ratio:
    """Return the bubble over the ideal: idle time over computing time."""
    return len(run.busy) * step / fsum(run.busy) - 1


def peak_activations(run: PipelineRun) -> tuple[Ratio, ...]:
    """Return the most activations each rank holds; 1 is its whole share of one micro-batch."""
    return tuple(peak / run.program.num_parts for peak in run.program.peaks)


def layers_of_ranks(run: PipelineRun, layers: Sequence[Count]) -> tuple[Count, ...]:
    """Return the layers that each rank holds, with copies, for given part sizes."""
    return tuple(sum(layers[stage] for stage in stages) for stages in run.program.places)


def peak_layers(run: PipelineRun, layers: Sequence[Count]) -> tuple[Count, ...]:
    """Return the peak number of layer activations that each rank holds."""
    return tuple(
        _peak_layers([layers[stage] for stage in stages], order)
        for stages, order in zip(run.program.places, run.program.orders, strict=True)
    )


def _peak_layers(layers: Sequence[Count], order: Sequence[Op]) -> Count:
    layers_held = peak = 0
    for op in order:
        if op.kind in (FORWARD, PAIR):
            layers_held += layers[op.chunk]
            peak = max(peak, layers_held)
        if op.kind == PAIR:
            layers_held -= layers[op.back_chunk]
        elif op.kind in (BACKWARD, WEIGHT):
            layers_held -= layers[op.chunk]
    return peak


def activation_timeline(
    run: PipelineRun, rank: int
) -> tuple[tuple[Seconds, ...], tuple[Ratio, ...]]:
    """Return the step function of activations that a rank holds: times and counts."""
    times, counts, before = [0.0], [0.0], 0
    for op, chunks, start, end in zip(
        run.program.orders[rank],
        run.program.chunks_held[rank],
        run.starts[rank],
        run.ends[rank],
        strict=True,
    ):
        high = chunks + 1 if op.kind == PAIR else chunks
        for time, count in ((start, high), (end, chunks)) if high > before else ((end, chunks),):
            if time - times[-1] <= 1e-9 * end:
                # Let go and taken up at once: nothing that lasts.
                counts[-1] = count / run.program.num_parts
            elif count != counts[-1] * run.program.num_parts:
                times.append(time)
                counts.append(count / run.program.num_parts)
        before = chunks
    return tuple(times), tuple(counts)


# A pass of one stage over one micro-batch: forward and backward, all stages alike.
_EQUAL_TIMES = PipelineTimes(forward=1.0, backward_input=1.0, backward_weight=1.0, pair=3.0)
_MOST_PASSES = 3000


def steps_in_passes(schedule: str, pipeline_parallel: Count) -> tuple[tuple[Count, Ratio], ...]:
    """Return (micro-batches, step in stage passes) for 1, 2, 4, ... micro-batches.

    It ends at 1024, or where playing all of them would take a reader's time to speak of.
    """
    points: list[tuple[Count, Ratio]] = []
    whole = _EQUAL_TIMES.forward + _EQUAL_TIMES.backward_input + _EQUAL_TIMES.backward_weight
    left = _MOST_PASSES
    for exponent in range(11):
        num_microbatches = 2**exponent
        left -= 2 * pipeline_parallel * num_microbatches
        if points and left < 0:
            break
        run = simulate(schedule, pipeline_parallel, num_microbatches, 1, _EQUAL_TIMES)
        points.append((num_microbatches, run.period / whole))
    return tuple(points)
