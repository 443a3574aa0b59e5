"""Exports of an imported job: configurations of other software, Markdown, CSV."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.catalog.models import MODELS, Model
from engine.core.numbers import DEFAULT, format_value
from engine.core.units import BYTES, SECONDS, SHARE
from engine.form.memory_fit import TITLES
from engine.form.run.result import RunEstimate
from engine.run.exporters import fully_sharded
from engine.run.exporters.megatron import bridge_overrides, megatron_arguments
from engine.run.importers.assemble import ImportedRun
from engine.run.importers.torchtitan_derived import FLAVORS
from engine.run.run import Run

# Formats that an imported job is exported to: configurations of other software.


def catalog_key(model: Model) -> str:
    """Return the catalog key of a model, or ""."""
    return next((key for key, row in MODELS.items() if row == model), "")


_OWN = ("your_model", "your_flavor")
# Families whose flavors torchtitan writes in small letters.
_LOWER = ("llama4", "gpt_oss", "your_model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """An export format: title, language and writer."""

    title: str
    language: str
    write: Callable[[Run], str]


def _flavor(run: Run) -> tuple[str, str]:
    """Return the torchtitan model and flavor; placeholders for a model it lacks."""
    row = catalog_key(run.model)
    family, flavor = next((names for names, key in FLAVORS.items() if key == row), _OWN)
    return family, flavor if family in _LOWER else flavor.upper()


def _recipe(run: Run) -> str:
    return catalog_key(run.model).replace("llama-3-", "llama3-").replace("-", "_").replace(".", "p")


EXPORTS: Mapping[str, Export] = {
    "megatron": Export(
        title="Megatron-LM arguments (Core 0.19)",
        language="bash",
        write=megatron_arguments,
    ),
    "bridge": Export(
        title="Megatron-Bridge overrides",
        language="bash",
        write=lambda run: bridge_overrides(run, _recipe(run)),
    ),
    "torchtitan-toml": Export(
        title="torchtitan TOML (up to 0.2)",
        language="toml",
        write=lambda run: fully_sharded.torchtitan_toml(run, *_flavor(run)),
    ),
    "torchtitan-python": Export(
        title="torchtitan 0.3",
        language="python",
        write=lambda run: fully_sharded.torchtitan_python(run, *_flavor(run)),
    ),
    "torchtitan-main": Export(
        title="torchtitan, main branch since August 2026",
        language="python",
        write=lambda run: fully_sharded.torchtitan_python(run, *_flavor(run), tokens=True),
    ),
    # MiCS, its way to shard within a group, was removed in 0.19.7.
    "deepspeed": Export(
        title="DeepSpeed JSON (groups that shard: up to 0.19.6)",
        language="json",
        write=fully_sharded.deepspeed_json,
    ),
    "accelerate": Export(
        title="accelerate YAML", language="yaml", write=fully_sharded.accelerate_yaml
    ),
    "fsdp2": Export(title="PyTorch FSDP2", language="python", write=fully_sharded.fsdp2_code),
}


NOTHING = "No job could be put together from the text, so there is nothing to export.\n"
OPTIONS: Mapping[str, str] = {key: one.title for key, one in EXPORTS.items()} | {
    "run-file": "Run file, for python -m engine estimate",
    "markdown": "This page's answer as Markdown",
    "csv": "Every key as CSV",
}
_LANGUAGES = {"run-file": "json", "markdown": "markdown", "csv": "csv"}


def language(kind: str) -> str:
    """Return the language of an export."""
    return EXPORTS[kind].language if kind in EXPORTS else _LANGUAGES[kind]


def write_export(kind: str, imported: ImportedRun, estimated: RunEstimate | None) -> str:
    """Return the text of an export."""
    if kind == "csv":
        return entries_csv(imported)
    if kind == "markdown":
        return report_markdown(imported, estimated)
    if imported.run is None:
        return NOTHING
    if kind == "run-file":
        return json.dumps(imported.document, indent=2) + "\n"
    return EXPORTS[kind].write(imported.run)


def entries_csv(imported: ImportedRun) -> str:
    """Return every key as a row (RFC 4180)."""
    rows = [("what became of it", "line", "key", "value", "meaning")]
    rows += [
        (entry.kind, str(entry.line), entry.key, entry.value, entry.meaning)
        for entry in imported.entries
    ]
    return "".join(",".join(map(_csv_quote, row)) + "\n" for row in rows)


def _csv_quote(text: str) -> str:
    # A spreadsheet runs what begins like a formula.
    safe = "'" + text if text[:1] in ("=", "@", "+") else text
    return '"' + safe.replace('"', '""') + '"' if any(c in safe for c in ',"\n') else safe


def report_markdown(imported: ImportedRun, estimated: RunEstimate | None) -> str:
    """Return the answer and every key as Markdown."""
    lines = [f"# {', '.join(imported.dialects)}", ""]
    if estimated is not None:
        lines += [f"- {line}" for line in _answers(estimated)]
    lines += [f"- Contradiction: {_escape_markdown(line)}" for line in imported.contradictions]
    lines += ["", "| what became of it | line | key | value | meaning |", "|---|---|---|---|---|"]
    for entry in imported.entries:
        cells = (entry.kind, str(entry.line or ""), entry.key, entry.value, entry.meaning)
        lines.append("| " + " | ".join(map(_escape_markdown, cells)) + " |")
    return "\n".join(lines) + "\n"


def _answers(estimated: RunEstimate) -> tuple[str, ...]:
    said = estimated.estimate
    low, high = said["step_time_low"], said["step_time_high"]
    sizes = {
        name: format_value(said[f"memory_{name}"], BYTES, DEFAULT)
        for name in ("allocated", "reserved", "process")
    }
    return (
        f"Step: {format_value(estimated.step_time, SECONDS, DEFAULT)} "
        f"({format_value(low, SECONDS, DEFAULT)} to {format_value(high, SECONDS, DEFAULT)})",
        f"MFU: {format_value(estimated.mfu, SHARE, DEFAULT)}",
        f"{TITLES[estimated.fit.verdict]}: {sizes['allocated']} allocated, "
        f"{sizes['reserved']} reserved, {sizes['process']} in nvidia-smi",
    )


def _escape_markdown(text: str) -> str:
    """Return a text that neither ends a cell of a table nor is markup."""
    marks = {"|": "\\|", "<": "&lt;", ">": "&gt;", "`": "'"}
    return "".join(marks.get(letter, letter) for letter in " ".join(text.split()))
