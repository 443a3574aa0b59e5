"""What speaks against a run as it is given: sizes that do not fit together, uneven pieces."""

from engine.basis.record import record
from engine.basis.units import Count
from engine.run.problems import problems
from engine.run.run import Run
from engine.run.stage_cut import uneven_pieces


@record
class Doubts:
    """What speaks against a run.

    Attributes:
        problems: what does not fit together, in sentences.
        pieces: layers of each piece of the pipeline where they differ; empty where they divide.
    """

    problems: tuple[str, ...]
    pieces: tuple[Count, ...]


def doubts(run: Run) -> Doubts:
    """Return what speaks against a run."""
    return Doubts(
        problems=problems(run.model, run.cluster, run.plan, run.training),
        pieces=uneven_pieces(run.model, run.plan, run.training.schedule),
    )
