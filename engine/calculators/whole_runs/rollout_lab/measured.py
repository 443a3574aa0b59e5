"""Published and simulated steps of a job on three clusters."""

from engine.calculators.whole_runs.rollout_lab.curves import MINUTE
from engine.calculators.whole_runs.rollout_lab.result import Result
from engine.core.units import Seconds
from engine.core.views import Cell, Citation, Table


def measured(result: Result) -> Table:
    """Return generation and training time of the steps, in minutes."""
    rows: list[tuple[Cell, ...]] = []
    for row in result.published():
        parts = zip(row.measured, row.simulated, strict=True)
        times = (_minutes(time) for part in parts for time in part)
        rows.append((f"{row.world_size} GPUs", *times, Citation(("verl2025",))))
    return Table(
        title="Measured and simulated, in minutes",
        columns=(
            "Cluster",
            "Generation, measured",
            "Generation, simulated",
            "Training, measured",
            "Training, simulated",
            "Measured by",
        ),
        rows=tuple(rows),
        caption="Generation until the last response is done; training with the log-probabilities "
        "before it.",
    )


def _minutes(time: Seconds) -> str:
    return f"{time / MINUTE:.2f} min"
