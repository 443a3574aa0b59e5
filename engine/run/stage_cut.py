"""A cut by hand: layers moved off the ends of a pipeline."""

from engine.basis.units import Count
from engine.run.parallelism import chunk_sizes


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
