"""Partition of the layers over pipeline pieces: even, uneven, or by hand."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from engine.catalog.models import Model
from engine.core.units import Count
from engine.run.parallelism import V_SHAPED, Plan, Schedule, chunk_sizes


def uneven_pieces(model: Model, plan: Plan, schedule: Schedule = "1f1b") -> tuple[Count, ...]:
    """Return the layers of each piece of the pipeline where they differ; empty where they divide.

    A cut by hand (`Plan.stage_layers`) is meant as it is. Interleaved, every rank has
    `virtual_pipeline` pieces; in a V it has two.
    """
    if plan.pipeline_parallel == 1 or plan.stage_layers:
        return ()
    pieces = plan.pipeline_parallel * (2 if schedule in V_SHAPED else plan.virtual_pipeline)
    sizes = chunk_sizes(model.num_layers, pieces)
    return sizes if len(set(sizes)) > 1 else ()


def cut_layers(model: Model, num_pieces: Count) -> tuple[Count, ...]:
    """Return the layers of each piece of the pipeline where nobody cuts it by hand.

    A model that predicts further tokens has a layer and an output layer more at its end. The
    pieces before are filled as evenly as whole layers allow, and the last one takes what is left
    (DeepSeek-V3 in Megatron-Bridge: "Et*4|(t*4|)*14tmL", sixteen pieces of 4, ..., 4 and 1 layers).
    """
    layers = model.num_layers
    if not model.num_prediction_layers or num_pieces == 1:
        return chunk_sizes(layers, num_pieces)
    return _filled_pieces(layers, num_pieces)


@lru_cache(maxsize=1024)
def _filled_pieces(layers: Count, num_pieces: Count) -> tuple[Count, ...]:
    """Return pieces of equally many layers, the last of them with what is left."""
    each = -(-layers // num_pieces)
    return tuple(max(0, min(each, layers - each * index)) for index in range(num_pieces))


def moved_layers(
    num_layers: Count, stages: Count, off_first: Count, off_last: Count
) -> tuple[Count, ...]:
    """Return the layers of each stage after moving some off the first and the last stage.

    What leaves an end goes to the stages between, the earlier ones first; of two stages to the
    other. Negative numbers fetch layers back. Without the moves the layers are spread as
    `chunk_sizes` does, embedding and output layer counted as one layer each.
    """
    sizes = list(chunk_sizes(num_layers, stages))
    if stages == 1:
        return tuple(sizes)
    if stages == 2:
        first = min(max(sizes[0] - off_first + off_last, 0), num_layers)
        return (first, num_layers - first)
    inside = sum(sizes[1:-1])
    # No stage gives what it does not have.
    off_first = min(max(off_first, -inside), sizes[0])
    off_last = min(max(off_last, -(inside + off_first)), sizes[-1])
    each, left = divmod(inside + off_first + off_last, stages - 2)
    middle = [each + (i < left) for i in range(stages - 2)]
    return (sizes[0] - off_first, *middle, sizes[-1] - off_last)


def shifted_cut(num_layers: Count, stages: Count, shifts: Sequence[int]) -> tuple[Count, ...]:
    """Return the layers of each stage after every boundary was shifted by so many layers.

    Boundary i stands after stage i; a positive number moves it toward the end of the model. A
    boundary goes no further than its neighbors, the earlier ones first. Unmoved, the layers are
    spread as `chunk_sizes` does.
    """
    starts = list(accumulate(chunk_sizes(num_layers, stages)))[:-1]
    sizes, previous = [], 0
    for start, shift in zip(starts, shifts, strict=False):
        at = min(max(start + shift, previous), num_layers)
        sizes.append(at - previous)
        previous = at
    return (*sizes, num_layers - previous)
