"""What the file says, line by line, and what its settings cost."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.data_parallelism.deepspeed_linter.inputs import Inputs
from engine.catalog.models import MODELS
from engine.core.outputs import Told
from engine.core.units import Bytes, Count, Seconds
from engine.form.sharded.knobs import knob_fields, knob_job
from engine.formulas.parameters import total_parameters
from engine.run.deepspeed_lint import Note, lint
from engine.run.deepspeed_text import read_settings
from engine.run.deepspeed_values import Job, Values, values_of
from engine.simulate.data_parallel.deepspeed_cost import Cost, cost, smallest_matrix

_ASSUMED = (
    "Mixed precision with Adam, 16 bytes per parameter before they are divided. Offload is not "
    "counted.",
    "Stage 3 is simulated module by module; below it, only the buckets of gradients are.",
)


def _told(label: str, note: str, color: str) -> Told:
    return Told(
        label,
        note=note,
        color=color,
        assumes=_ASSUMED,
        sources=("deepspeed_config", "deepspeed_fetch"),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The annotated file."""

    notes: tuple[Note, ...]
    values: Values
    spent: Cost
    errors: Count
    warnings: Count
    states: Annotated[Bytes, _told("States", "on each GPU at stage {stage}", "optimizer")]
    buffers: Annotated[Bytes, _told("Buffers of these settings", "on each GPU", "buffers")]
    exposed: Annotated[Seconds, _told("Exposed communication", "per step", "communication")]
    stage: Count


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    model = MODELS[inputs.model]
    job = Job(
        parameters=total_parameters(model),
        hidden=model.hidden_size,
        matrix=smallest_matrix(inputs.model),
        ranks=inputs.ranks,
    )
    lines = read_settings(inputs.text)
    notes = lint(lines, job)
    values = values_of(lines, job)
    setting = knob_job(*knob_fields(inputs))
    spent = cost(values, setting)
    return Result(
        notes=notes,
        values=values,
        spent=spent,
        errors=sum(note.verdict == "error" for note in notes),
        warnings=sum(note.verdict == "warning" for note in notes),
        states=spent.states.total,
        buffers=spent.buffers,
        exposed=spent.exposed,
        stage=values.stage,
    )
