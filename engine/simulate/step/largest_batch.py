"""The largest micro-batch of a run: memory as a straight line, and the speed of a batch."""

from dataclasses import dataclass, replace
from math import ceil

from engine.core.units import Bytes, Count, Ratio, Share, TokenRate
from engine.formulas.batch import batch_room, largest_batch, memory_of_batch, usable_memory
from engine.run.parallelism import Training
from engine.run.run import Run
from engine.simulate.memory.allocator import Memory, context
from engine.simulate.memory.memory import (
    kinds_of_layer,
    memory,
    stage_memory,
    stages_that_can_be_fullest,
)
from engine.simulate.step.step_time import step_time

# Sequences that each data-parallel rank works through in a step, in micro-batches of any size.
SEQUENCES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Memory of a pipeline stage as a straight line in the micro-batch.

    Attributes:
        stage: of the pipeline.
        fixed: states and buffers.
        per_sequence: what each sequence of a micro-batch adds.
        room: sequences that fit, not rounded.
    """

    stage: Count
    fixed: Bytes
    per_sequence: Bytes
    room: Ratio

    def at(self, batch: Ratio) -> Bytes:
        """Return the memory with so many sequences."""
        return memory_of_batch(batch, self.fixed, self.per_sequence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How much of a run's memory its micro-batches may take.

    Attributes:
        run: with the micro-batch asked for.
        held: memory of its fullest GPU.
        line: of the stage that runs out of memory first.
        largest: micro-batch that fits.
        context: memory outside of the framework's tensors.
        usable: memory that tensors may fill.
    """

    run: Run
    held: Memory
    line: Line
    largest: Count
    context: Bytes
    usable: Bytes

    @property
    def fits(self) -> bool:
        """Whether the micro-batch asked for does."""
        return self.held.total <= self.usable


def fit_of(run: Run, margin: Share) -> Fit:
    """Return what fits with a share of the memory left free."""
    capacity, outside = run.cluster.gpu.memory, context(run.training)
    line = min(_lines(run, capacity, margin), key=lambda one: one.room)
    return Fit(
        run=run,
        held=memory(run.model, run.plan, run.training),
        line=line,
        largest=largest_batch(line.room),
        context=outside,
        usable=usable_memory(capacity, margin, outside),
    )


def with_batch(run: Run, batch: Count, sequences: Count = 0) -> Training:
    """Return the training with micro-batches of another size.

    `sequences`: that each data-parallel rank works through in a step; 0: one micro-batch for each
    stage of the pipeline.
    """
    count = ceil(sequences / batch) if sequences else run.plan.pipeline_parallel
    every = batch * count * run.plan.data_parallel
    return replace(run.training, micro_batch_size=batch, global_batch_size=every)


def memory_of(run: Run, batch: Count) -> Memory:
    """Return the memory of the fullest GPU with micro-batches of `batch` sequences."""
    return memory(run.model, run.plan, with_batch(run, batch))


def _lines(run: Run, capacity: Bytes, margin: float) -> list[Line]:
    """Return the line of every stage that can be the fullest, from two of its points."""
    outside = context(run.training)
    one, two = (_stages(run, batch) for batch in (1, 2))
    lines = []
    for first, second in zip(one, two, strict=True):
        slope = second.total - first.total
        fixed = first.total - slope
        room = batch_room(usable_memory(capacity, margin, outside), fixed, slope)
        lines.append(Line(stage=first.stage, fixed=fixed, per_sequence=slope, room=room))
    return lines


def _stages(run: Run, batch: Count) -> list[Memory]:
    training = with_batch(run, batch)
    layers = kinds_of_layer(run.model, run.plan, training)
    return [
        stage_memory(run.model, run.plan, training, stage, layers)
        for stage in stages_that_can_be_fullest(run.model, run.plan, training)
    ]


def speed(run: Run, batch: Count) -> TokenRate:
    """Return the tokens per second per GPU with micro-batches of `batch` sequences.

    The step is the same whatever the micro-batch: `SEQUENCES` sequences for each data-parallel
    rank, but for the last micro-batch, which is filled up.
    """
    training = with_batch(run, batch, SEQUENCES)
    step = step_time(run.model, run.cluster, run.plan, training).total
    return training.global_batch_size * training.sequence_length / step / run.plan.world_size
