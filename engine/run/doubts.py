"""Warnings about a run: inconsistent sizes, uneven pipeline pieces, schedule requirements."""

from engine.core.record import record
from engine.core.units import Count
from engine.run.parallelism import num_microbatches
from engine.run.problems import problems
from engine.run.run import Run
from engine.run.stage_cut import uneven_pieces


@record
class RunWarnings:
    """Warnings about a run.

    Attributes:
        problems: what does not fit together, in sentences.
        pieces: layers of each piece of the pipeline where they differ; empty where they divide.
        asked: what a schedule's own authors ask for and the plan does not have, in sentences.
    """

    problems: tuple[str, ...]
    pieces: tuple[Count, ...]
    asked: tuple[str, ...]


def run_warnings(run: Run) -> RunWarnings:
    """Return the warnings about a run."""
    return RunWarnings(
        problems=problems(run.model, run.cluster, run.plan, run.training),
        pieces=uneven_pieces(run.model, run.plan, run.training.schedule),
        asked=_schedule_requirements(run),
    )


def _schedule_requirements(run: Run) -> tuple[str, ...]:
    """Return the unmet requirements of DualPipe, from the assertions in its authors' code."""
    ranks, micro_batches = run.plan.pipeline_parallel, num_microbatches(run.plan, run.training)
    if run.training.schedule != "dualpipe" or ranks == 1:
        return ()
    if ranks % 2 == 0 and micro_batches % 2 == 0 and micro_batches >= 2 * ranks:
        return ()
    return (
        "DeepSeek's DualPipe needs an even number of stages, and an even number of micro-batches, "
        f"at least two for each stage; there are {ranks} and {micro_batches}.",
    )
