"""The published steps of one job on three clusters, beside what is simulated of them."""

from engine.basis.inputs import Scalar
from engine.basis.units import Seconds
from engine.basis.views import Cite, Table
from engine.calculators.whole_runs.rollout_lab.inputs import Inputs
from engine.calculators.whole_runs.rollout_lab.result import step_of

MINUTE: Seconds = 60.0
# verl's 7B on H20. Median and spread of the lengths are ours: none were published.
JOB: dict[str, Scalar] = {
    "gpu": "H20",
    "prompts": 512,
    "per_prompt": 16,
    "median": 600,
    "spread": 1.2,
    "longest": 28_672,
    "forwards": "1",
}
# GPUs, minutes of the generation, minutes of log-probabilities and training. Source: verl2025.
_STEPS = ((32, 5.95, 6.29), (64, 2.51, 3.39), (128, 2.96, 2.80))


def measured() -> Table:
    """Return both parts of the steps, all in minutes."""
    rows = []
    for world_size, generation, learning in _STEPS:
        found = step_of(Inputs(world_size=world_size, **JOB), "colocated")  # type: ignore[arg-type]
        ours = found.generation, found.forwards + found.training
        cells = (_told(generation * MINUTE), _told(ours[0]), _told(learning * MINUTE))
        rows.append((f"{world_size} GPUs", *cells, _told(ours[1]), Cite(("verl2025",))))
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
