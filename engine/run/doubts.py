"""What speaks against a run as it is given: sizes that do not fit together, uneven pieces."""

from engine.core.record import record
from engine.core.units import Count
from engine.run.parallelism import num_microbatches
from engine.run.problems import problems
from engine.run.run import Run
from engine.run.stage_cut import uneven_pieces


@record
class Doubts:
    """What speaks against a run.

    Attributes:
        problems: what does not fit together, in sentences.
        pieces: layers of each piece of the pipeline where they differ; empty where they divide.
        asked: what a schedule's own authors ask for and the plan does not have, in sentences.
    """

    problems: tuple[str, ...]
    pieces: tuple[Count, ...]
    asked: tuple[str, ...]


def doubts(run: Run) -> Doubts:
    """Return what speaks against a run."""
    return Doubts(
        problems=problems(run.model, run.cluster, run.plan, run.training),
        pieces=uneven_pieces(run.model, run.plan, run.training.schedule),
        asked=_asked(run),
    )


def _asked(run: Run) -> tuple[str, ...]:
    """Return what DualPipe asks for, by the assertions of its authors' own code."""
    ranks, many = run.plan.pipeline_parallel, num_microbatches(run.plan, run.training)
    if run.training.schedule != "dualpipe" or ranks == 1:
        return ()
    if ranks % 2 == 0 and many % 2 == 0 and many >= 2 * ranks:
        return ()
    return (
        "DeepSeek's DualPipe needs an even number of stages, and an even number of micro-batches, "
        f"at least two for each stage; there are {ranks} and {many}.",
    )
