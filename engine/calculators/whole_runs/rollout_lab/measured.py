"""The published steps of one job on three clusters, beside what is simulated of them."""

from engine.calculators.whole_runs.rollout_lab.curves import MINUTE
from engine.calculators.whole_runs.rollout_lab.result import Result
from engine.core.units import Seconds
from engine.core.views import Cell, Cite, Table


def measured(result: Result) -> Table:
    """Return both parts of the steps, all in minutes."""
    rows: list[tuple[Cell, ...]] = []
    for one in result.published():
        parts = zip(one.measured, one.simulated, strict=True)
        times = (_told(time) for part in parts for time in part)
        rows.append((f"{one.world_size} GPUs", *times, Cite(("verl2025",))))
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


def _told(time: Seconds) -> str:
    return f"{time / MINUTE:.2f} min"
