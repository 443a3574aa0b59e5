"""Operations of a pipeline schedule, and the placement of model chunks on ranks."""

from collections.abc import Sequence
from typing import NamedTuple

from engine.core.units import Count

# Kinds of operations. BACKWARD is both halves at once; INPUT and WEIGHT are its halves: the
# gradient for the stage before, and that of the stage's own weights. PAIR computes a forward of
# one micro-batch and a backward of another at the same time.
FORWARD, BACKWARD, INPUT, WEIGHT, PAIR = range(5)
KINDS = ("forward", "backward", "backward for inputs", "backward for weights", "forward & backward")

# How the chunks of the model lie on the ranks. LOOP: chunk c of rank r is stage c p + r. ZIGZAG:
# every second chunk runs back, so that the last stage of a V is on rank 0. MIRROR: as ZIGZAG, but
# each chunk is a pipeline of its own: two copies of the model, fed from both ends.
LOOP, ZIGZAG, MIRROR = "loop", "zigzag", "mirror"


class Op(NamedTuple):
    """One operation of a pipeline rank.

    Attributes:
        kind: FORWARD, BACKWARD, INPUT, WEIGHT or PAIR; a PAIR's forward is told by the next two.
        microbatch: its number, from 0.
        chunk: which of the rank's chunks, from 0.
        back_microbatch: of a PAIR, the micro-batch that goes backward.
        back_chunk: of a PAIR, the chunk that it goes through.
    """

    kind: int
    microbatch: int
    chunk: int = 0
    back_microbatch: int = -1
    back_chunk: int = -1


Orders = Sequence[Sequence[Op]]


def describe(op: Op) -> str:
    """Return the operation in words, e.g. "forward of micro-batch 3, chunk 0"."""
    words = f"{KINDS[op.kind]} of micro-batch {op.microbatch}, chunk {op.chunk}"
    if op.kind == PAIR:
        words += f" with {op.back_microbatch}, chunk {op.back_chunk}"
    return words


def stage_of(rank: int, chunk: int, pipeline_parallel: Count, placement: str) -> int:
    """Return the stage of a chunk on a rank, counted along the model from 0."""
    back = placement != LOOP and chunk % 2 == 1
    return chunk * pipeline_parallel + (pipeline_parallel - 1 - rank if back else rank)


def rank_of(stage: int, pipeline_parallel: Count, placement: str) -> int:
    """Return the rank that holds a stage."""
    chunk, position = divmod(stage, pipeline_parallel)
    back = placement != LOOP and chunk % 2 == 1
    return pipeline_parallel - 1 - position if back else position


def is_first(stage: int, pipeline_parallel: Count, placement: str) -> bool:
    """Return whether a stage is the model's first, where micro-batches enter."""
    return stage == 0 or (placement == MIRROR and stage % pipeline_parallel == 0)


def is_last(stage: int, pipeline_parallel: Count, num_chunks: Count, placement: str) -> bool:
    """Return whether a stage is the model's last, where the loss is computed."""
    if placement == MIRROR:
        return stage % pipeline_parallel == pipeline_parallel - 1
    return stage == pipeline_parallel * num_chunks - 1


def parts(num_chunks: Count, placement: str) -> Count:
    """Return the number of model chunks per rank; copies of the model count once."""
    return 1 if placement == MIRROR else num_chunks
