"""Write the published plans of the catalog's models, from the tables of published runs.

python -m tests.engine.catalog.write_published_recipes
"""

from collections.abc import Iterator
from pathlib import Path

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS, Model
from engine.catalog.published_runs import SOURCES, published_rows
from engine.catalog.reported_runs import REPORTED
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.run.plan_space import model_shape
from engine.run.published import read_published_runs
from engine.run.run import Run

TABLE = Path(__file__).parents[3] / "engine" / "catalog" / "published_recipes_table.tsv"
# Many plans of one job, tried one after another: nobody's recipe.
SWEEPS = ("bloom176b_topology_sweep.csv", "zero_bubble_tables.csv", "simumax_b200_measured.csv")


def runs() -> Iterator[tuple[str, Run]]:
    """Yield every published run that is no trial of a sweep, with its source."""
    for case in read_published_runs(published_rows())[0]:
        table = case.row["source_file"]
        if table not in SWEEPS:
            yield SOURCES[table][0], case.run
    for report in REPORTED.values():
        yield report.source, nearest_run(Inputs(**report.settings))[0]


def key_of(model: Model) -> str | None:
    """Return the model of the catalog with that shape, the vocabulary being the nearest."""
    same = [key for key, known in MODELS.items() if model_shape(known) == model_shape(model)]
    return min(same, key=lambda key: abs(MODELS[key].vocab_size - model.vocab_size), default=None)


def plan_of(run: Run) -> tuple[str, ...]:
    """Return what the table says of a plan."""
    plan, training = run.plan, run.training
    repeated = ",".join(training.recompute_modules)
    sizes = (
        *(plan.tensor_parallel, plan.pipeline_parallel, plan.virtual_pipeline),
        *(plan.context_parallel, plan.expert_parallel, plan.expert_tensor_parallel),
        *(plan.zero_stage, plan.shard_group, training.micro_batch_size),
    )
    recompute = f"modules:{repeated}" if repeated else training.recompute
    return training.framework, *map(str, sizes), recompute, training.schedule


def text() -> str:
    """Return the table, a line for each plan of a source, with all its machines."""
    gpus = {gpu.name: key for key, gpu in ACCELERATORS.items()}
    machines: dict[tuple[str, str, tuple[str, ...]], set[tuple[str, int]]] = {}
    for source, run in runs():
        model = key_of(run.model)
        if model:
            machine = gpus[run.cluster.gpu.name], run.plan.world_size
            machines.setdefault((model, source, plan_of(run)), set()).add(machine)
    lines = (
        "\t".join((model, source, ",".join(f"{gpu}:{n}" for gpu, n in sorted(found)), *plan))
        for (model, source, plan), found in machines.items()
    )
    return "".join(f"{line}\n" for line in sorted(lines))


if __name__ == "__main__":
    TABLE.write_text(text(), encoding="utf-8")
