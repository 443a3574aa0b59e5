"""The largest micro-batch of a run: memory as a straight line, and the speed of a batch."""

from dataclasses import dataclass, replace
from math import ceil

from engine.core.units import Bytes, Count, Ratio, Share, TokenRate
from engine.formulas.batch import batch_room, largest_batch, memory_of_batch
from engine.run.parallelism import Training
from engine.run.run import Run
from engine.simulate.memory.allocator import Memory, MemoryFit, usable_bytes
from engine.simulate.memory.memory import (
    candidate_stages,
    layer_memories,
    rank_memory,
    stage_memory,
)
from engine.simulate.step.step_time import step_time

# Sequences that each data-parallel rank works through in a step, in micro-batches of any size.
SEQUENCES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """Memory of a pipeline stage as a linear function of the micro-batch size.

    Attributes:
        stage: of the pipeline.
        fixed: states and buffers.
        per_sequence: what each sequence of a micro-batch adds.
        max_sequences: sequences that fit, not rounded.
    """

    stage: Count
    fixed: Bytes
    per_sequence: Bytes
    max_sequences: Ratio

    def memory(self, batch: Ratio) -> Bytes:
        """Return the memory with so many sequences."""
        return memory_of_batch(batch, self.fixed, self.per_sequence)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFit:
    """Largest micro-batch of a run and the memory that limits it.

    Attributes:
        run: with the micro-batch asked for.
        memory: memory of its fullest GPU.
        line: of the stage that runs out of memory first.
        largest: micro-batch that fits.
        usable: memory that the process may fill.
    """

    run: Run
    memory: Memory
    line: MemoryLine
    largest: Count
    usable: Bytes

    @property
    def fit(self) -> MemoryFit:
        """How the requested micro-batch fits."""
        return MemoryFit(
            needed=self.memory.total,
            least=self.memory.least,
            usable=self.usable,
            device=self.run.cluster.gpu.memory,
        )


def batch_fit(run: Run, margin: Share) -> BatchFit:
    """Return the largest micro-batch with a share of the memory left free."""
    usable = usable_bytes(run.cluster.gpu.memory, margin)
    line = min(_stage_lines(run, usable), key=lambda line: line.max_sequences)
    return BatchFit(
        run=run,
        memory=rank_memory(run.model, run.plan, run.training),
        line=line,
        largest=largest_batch(line.max_sequences),
        usable=usable,
    )


def training_with_batch(run: Run, batch: Count, sequences: Count = 0) -> Training:
    """Return the training with micro-batches of another size.

    `sequences`: that each data-parallel rank works through in a step; 0: one micro-batch for each
    stage of the pipeline.
    """
    count = ceil(sequences / batch) if sequences else run.plan.pipeline_parallel
    every = batch * count * run.plan.data_parallel
    return replace(run.training, micro_batch_size=batch, global_batch_size=every)


def batch_memory(run: Run, batch: Count) -> Memory:
    """Return the memory of the fullest GPU with micro-batches of `batch` sequences."""
    return rank_memory(run.model, run.plan, training_with_batch(run, batch))


def _stage_lines(run: Run, usable: Bytes) -> list[MemoryLine]:
    """Return the memory line of each stage that can be the fullest, from two batch sizes."""
    single, double = (_stage_memories(run, batch) for batch in (1, 2))
    lines = []
    for first, second in zip(single, double, strict=True):
        slope = second.total - first.total
        fixed = first.total - slope
        room = batch_room(usable, fixed, slope)
        lines.append(
            MemoryLine(stage=first.stage, fixed=fixed, per_sequence=slope, max_sequences=room)
        )
    return lines


def _stage_memories(run: Run, batch: Count) -> list[Memory]:
    training = training_with_batch(run, batch)
    layers = layer_memories(run.model, run.plan, training)
    return [
        stage_memory(run.model, run.plan, training, stage, layers)
        for stage in candidate_stages(run.model, run.plan, training)
    ]


def batch_token_rate(run: Run, batch: Count) -> TokenRate:
    """Return the tokens per second per GPU with micro-batches of `batch` sequences.

    The step is the same whatever the micro-batch: `SEQUENCES` sequences for each data-parallel
    rank, but for the last micro-batch, which is filled up.
    """
    training = training_with_batch(run, batch, SEQUENCES)
    step = step_time(run.model, run.cluster, run.plan, training).total
    return training.global_batch_size * training.sequence_length / step / run.plan.world_size
