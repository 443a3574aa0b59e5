"""Results of the linter: the annotated lines, and the cost of the settings."""

from dataclasses import dataclass
from typing import Annotated

from engine.calculators.data_parallelism.deepspeed_linter.inputs import Inputs
from engine.catalog.models import MODELS
from engine.core.outputs import Output
from engine.core.units import Bytes, Count, Seconds
from engine.form.sharded.knobs import knob_fields, knob_job
from engine.formulas.parameters import total_parameters
from engine.run.deepspeed_lint import LintMessage, lint
from engine.run.deepspeed_text import read_settings
from engine.run.deepspeed_values import LintJob, ZeroValues, read_zero_values
from engine.simulate.data_parallel.deepspeed_cost import (
    DeepSpeedCost,
    settings_cost,
    smallest_matrix,
)

_ASSUMES = (
    "Mixed precision with Adam, 16 bytes per parameter before they are divided. Offload is not "
    "counted.",
    "Stage 3 is simulated module by module; below it, only the buckets of gradients are.",
)


def _output(label: str, note: str, color: str) -> Output:
    return Output(
        label,
        note=note,
        color=color,
        assumes=_ASSUMES,
        sources=("deepspeed_config", "deepspeed_fetch"),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The annotated file."""

    notes: tuple[LintMessage, ...]
    values: ZeroValues
    spent: DeepSpeedCost
    errors: Count
    warnings: Count
    states: Annotated[Bytes, _output("States", "on each GPU at stage {stage}", "optimizer")]
    buffers: Annotated[Bytes, _output("Buffers of these settings", "on each GPU", "buffers")]
    exposed: Annotated[Seconds, _output("Exposed communication", "per step", "communication")]
    stage: Count


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    model = MODELS[inputs.model]
    job = LintJob(
        parameters=total_parameters(model),
        hidden=model.hidden_size,
        matrix=smallest_matrix(inputs.model),
        ranks=inputs.ranks,
    )
    lines = read_settings(inputs.text)
    notes = lint(lines, job)
    values = read_zero_values(lines, job)
    setting = knob_job(*knob_fields(inputs))
    spent = settings_cost(values, setting)
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
