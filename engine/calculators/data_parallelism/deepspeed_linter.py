"""A linter for DeepSpeed's JSON: effect, cost and errors of every line."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.deepspeed_settings import SETTINGS, VERSION
from engine.catalog.models import MODELS
from engine.core import text
from engine.core.inputs import Sample, Text
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, Bytes, Count, Gbit, Seconds
from engine.core.views import Axis, Badge, Bar, Bars, Segment, Table
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.knobs import KnobModel, KnobPort, knob_fields, knob_job
from engine.form.sharded.lab import LabRanks, LabTokens
from engine.formulas.parameters import total_parameters
from engine.run.deepspeed_lint import LintMessage, lint
from engine.run.deepspeed_values import LintJob, ZeroValues, read_settings, read_zero_values
from engine.simulate.data_parallel.deepspeed_cost import (
    DeepSpeedCost,
    settings_cost,
    smallest_matrix,
)

_ZERO_3 = """{
  "train_micro_batch_size_per_gpu": 1,
  "gradient_accumulation_steps": 1,
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 3,
    "overlap_comm": true,
    "contiguous_gradients": true,
    "reduce_bucket_size": 5e8,
    "stage3_prefetch_bucket_size": 5e7,
    "stage3_param_persistence_threshold": 1e5,
    "stage3_max_live_parameters": 0,
    "stage3_max_reuse_distance": 0,
    "allgather_bucket_size": 5e8,
    "stage3_gather_16bit_weights_on_model_save": true
  }
}
"""
_ZERO_2 = """{
  "train_batch_size": 64,
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 2,
    "allgather_bucket_size": 5e8,
    "reduce_bucket_size": 1e10,
    "stage3_prefetch_bucket_size": 5e7
  }
}
"""
_AUTO = """{
  "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto",
  "gradient_accumulation_steps": "auto",
  "bf16": {"enabled": "auto"},
  "zero_optimization": {
    "stage": 3,
    "overlap_comm": true,
    "reduce_bucket_size": "auto",
    "stage3_prefetch_bucket_size": "auto",
    "stage3_param_persistence_threshold": "auto",
    "stage3_max_live_parameters": 1e9,
    "stage3_max_reuse_distance": 1e9
  }
}
"""
_MISTAKES = """{
  "train_batch_size": 64,
  "train_micro_batch_size_per_gpu": 1,
  "gradient_accumulation_steps": 2,
  "fp16": {"enabled": true},
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 3,
    "reduce_bucket_sise": 5e7,
    "overlap_comm": false,
    "stage3_max_live_gradients": 1e6,
    "stage3_prefetch_bucket_size": 15099494.4,
    "stage3_max_reuse_distance": 1e10
  }
}
"""
SAMPLES: Mapping[str, Sample] = {
    "stage3": Sample(title="Stage 3, as many files have it", text=_ZERO_3),
    "stage2": Sample(title="Stage 2", text=_ZERO_2),
    "auto": Sample(
        title="With \N{LEFT DOUBLE QUOTATION MARK}auto\N{RIGHT DOUBLE QUOTATION MARK}", text=_AUTO
    ),
    "mistakes": Sample(title="With mistakes", text=_MISTAKES),
}


PRESETS = {
    "The same for 70B on 128 GPUs": {"model": "llama-3-70b", "ranks": 128},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    text: Annotated[
        str,
        Text(
            label="DeepSpeed JSON",
            samples=SAMPLES,
            placeholder="Paste a DeepSpeed configuration.",
            rows=16,
            files=".json",
            longest=50_000,
            check=read_settings,
        ),
    ] = SAMPLES["stage3"].text
    model: KnobModel = "llama-3-8b"
    ranks: LabRanks = 64
    tokens: LabTokens = 4096
    port: KnobPort = 400 * Gbit
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


_ASSUMES = (
    "Mixed precision with Adam, 16 bytes per parameter before they are divided. Offload is not "
    "counted, nor the copy of the gradients in single precision that the update makes.",
    "The step is the estimate's, for one micro-batch with gradients in the type of the model, "
    "DeepSpeed's default: below stage 3 with the buckets of the file, at stage 3 with what the "
    "file changes in a fetch schedule, played module by module.",
    "At stage 3, collectives between nodes use one port of a node: inferred from six runs of 2021 "
    "and nothing else.",
)


def _output(label: str, note: str, color: str) -> Output:
    return Output(
        label,
        note=note,
        color=color,
        assumes=_ASSUMES,
        sources=("deepspeed_config", "deepspeed_fetch", "narayanan2021"),
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


# Settings that decide memory and overlap: named where a file leaves them out.
_SHOWN_SETTINGS = (
    "reduce_bucket_size",
    "overlap_comm",
    "allgather_bucket_size",
    "stage3_max_live_parameters",
    "stage3_max_reuse_distance",
    "stage3_prefetch_bucket_size",
    "stage3_param_persistence_threshold",
)
_NAMES = {"ok": "", "note": "note", "warning": "warning", "error": "ERROR"}


def verdict(present: Presenter, result: Result) -> Badge:
    """Return whether DeepSpeed would take the file."""
    also = f" and {_finding_words('warning', result.warnings)}" if result.warnings else ""
    if result.errors:
        return Badge(
            text="DeepSpeed would refuse it",
            sentence=present.say(f"{_finding_words('error', result.errors)}{also}."),
            color="communication",
        )
    if result.warnings:
        return Badge(
            text="It runs",
            sentence=present.say(
                "{warnings} of its lines do not do what they seem to."
                if result.warnings > 1
                else "One of its lines does not do what it seems to."
            ),
            color="buffers",
        )
    return Badge(text="It runs", sentence="Nothing in it stands out.", color="compute")


def _finding_words(word: str, number: int) -> str:
    """Return a number of findings in words; several name their field."""
    return f"1 {word}" if number == 1 else f"{{{word}s}} {word}s"


def annotated_file(result: Result) -> Table:
    """Return the table of keys with line, effect and cost."""
    return Table(
        title="Line by line",
        columns=("Line", "Setting", "Value", "Verdict", "What it does here", "Memory"),
        rows=tuple(
            (
                str(note.number),
                note.path.removeprefix("zero_optimization."),
                note.value,
                _NAMES[note.verdict],
                note.text,
                _memory(note, result),
            )
            for note in result.notes
        ),
        caption=f"Checked against the source of {VERSION}.",
    )


def _memory(note: LintMessage, result: Result) -> text.Text:
    spent = result.spent
    sizes: dict[str, Bytes] = {
        "stage": spent.states.total,
        "reduce_bucket_size": spent.bucket,
        "stage3_max_live_parameters": spent.live,
        "stage3_param_persistence_threshold": spent.persistent,
        "zero_hpz_partition_size": spent.second_copy,
    }
    size = sizes.get(note.path.removeprefix("zero_optimization."), 0.0)
    return say("{m}", m=(size, BYTES)) if size and note.verdict != "error" else ""


def defaults_table(result: Result) -> Table:
    """Return the settings that the file leaves to their defaults."""
    settings = result.values.settings
    rows = tuple(
        (name, SETTINGS[name].default, SETTINGS[name].effect)
        for name in _SHOWN_SETTINGS
        if name not in settings and result.stage in SETTINGS[name].stages
    )
    return Table(
        title="Left to the defaults",
        columns=("Setting", "Default", "What it does"),
        rows=rows or (("nothing", "", "Every setting that matters at this stage is given."),),
    )


def memory(result: Result) -> Bars:
    """Return states and buffers on each GPU."""
    spent = result.spent
    parts = (
        ("parameters", "parameters", spent.states.parameters, "parameters"),
        ("gradients", "gradients", spent.states.gradients, "gradients"),
        ("optimizer", "optimizer", spent.states.optimizer, "optimizer"),
    )
    buffers = (
        ("live", "gathered", spent.live, "parameters"),
        ("bucket", "bucket", spent.bucket, "gradients"),
        ("second", "second copy", spent.second_copy, "optimizer"),
        ("persistent", "persistent", spent.persistent, "buffers"),
    )
    rows = (("states", "states", parts), ("buffers", "buffers", buffers))
    high = max(spent.states.total, spent.buffers) * 1.1
    return Bars(
        title="Memory on each GPU, without activations",
        axis=Axis(label="memory", quantity=BYTES, low=0.0, high=high),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=tuple(
                    Segment(key=name, label=words, value=size, color=color)
                    for name, words, size, color in segments
                    if size
                ),
            )
            for key, label, segments in rows
        ),
    )


TITLE = "A linter for DeepSpeed"
QUESTION = "What does this DeepSpeed configuration do, line by line?"
HEADLINE = "verdict"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "verdict": verdict(present, result),
        "annotated": partial(annotated_file, result),
        **present.values("buffers", "states", "exposed"),
        "memory": partial(memory, result),
        "missing": partial(defaults_table, result),
    }
