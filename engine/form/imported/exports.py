"""A job as the configuration of other software, and what was read as Markdown and CSV."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from engine.core.numbers import DEFAULT, show
from engine.core.units import BYTES, SECONDS, SHARE
from engine.form.imported.run_text import known_model
from engine.form.run.result import Estimated
from engine.run.exporters import fully_sharded
from engine.run.exporters.megatron import bridge_overrides, megatron_arguments
from engine.run.importers.assemble import Imported
from engine.run.importers.torchtitan_derived import FLAVORS
from engine.run.run import Run

NOTHING = "No job could be put together from the text, so there is nothing to export.\n"
_OWN = ("your_model", "your_flavor")
# Families whose flavors torchtitan writes in small letters.
_LOWER = ("llama4", "gpt_oss", "your_model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """One format: what the reader sees, the language of its text, and how it is written."""

    title: str
    language: str
    write: Callable[[Run], str]


def _flavor(run: Run) -> tuple[str, str]:
    """Return torchtitan's names of a model; of one it does not have, names to fill in."""
    row = known_model(run.model)
    family, flavor = next((names for names, one in FLAVORS.items() if one == row), _OWN)
    return family, flavor if family in _LOWER else flavor.upper()


def _recipe(run: Run) -> str:
    return known_model(run.model).replace("llama-3-", "llama3-").replace("-", "_").replace(".", "p")


EXPORTS: Mapping[str, Export] = {
    "megatron": Export(
        title="Megatron-LM arguments (Core 0.20)",
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
OPTIONS: Mapping[str, str] = {key: one.title for key, one in EXPORTS.items()} | {
    "run-file": "Run file, for python -m engine estimate",
    "markdown": "This page's answer as Markdown",
    "csv": "Every key as CSV",
}
_LANGUAGES = {"run-file": "json", "markdown": "markdown", "csv": "csv"}


def language(kind: str) -> str:
    """Return the language of an export."""
    return EXPORTS[kind].language if kind in EXPORTS else _LANGUAGES[kind]


def exported(kind: str, read: Imported, found: Estimated | None) -> str:
    """Return the text of an export."""
    if kind == "csv":
        return csv_of(read)
    if kind == "markdown":
        return markdown_of(read, found)
    if read.run is None:
        return NOTHING
    if kind == "run-file":
        return json.dumps(read.document, indent=2) + "\n"
    return EXPORTS[kind].write(read.run)


def csv_of(read: Imported) -> str:
    """Return every key as a row (RFC 4180)."""
    rows = [("what became of it", "line", "key", "value", "meaning")]
    rows += [(one.kind, str(one.line), one.key, one.value, one.meaning) for one in read.entries]
    return "".join(",".join(map(_quoted, row)) + "\n" for row in rows)


def _quoted(text: str) -> str:
    # A spreadsheet runs what begins like a formula.
    safe = "'" + text if text[:1] in ("=", "@", "+") else text
    return '"' + safe.replace('"', '""') + '"' if any(c in safe for c in ',"\n') else safe


def markdown_of(read: Imported, found: Estimated | None) -> str:
    """Return the answer and every key as Markdown."""
    lines = [f"# {', '.join(read.dialects)}", ""]
    if found is not None:
        lines += [f"- {line}" for line in _answers(found)]
    lines += [f"- Contradiction: {_plain(line)}" for line in read.contradictions]
    lines += ["", "| what became of it | line | key | value | meaning |", "|---|---|---|---|---|"]
    for one in read.entries:
        cells = (one.kind, str(one.line or ""), one.key, one.value, one.meaning)
        lines.append("| " + " | ".join(map(_plain, cells)) + " |")
    return "\n".join(lines) + "\n"


def _answers(found: Estimated) -> tuple[str, ...]:
    said = found.estimate
    low, high = said["step_time_low"], said["step_time_high"]
    sizes = {
        name: show(said[f"memory_{name}"], BYTES, DEFAULT)
        for name in ("allocated", "reserved", "process")
    }
    return (
        f"Step: {show(found.step_time, SECONDS, DEFAULT)} "
        f"({show(low, SECONDS, DEFAULT)} to {show(high, SECONDS, DEFAULT)})",
        f"MFU: {show(found.mfu, SHARE, DEFAULT)}",
        f"{'Fits' if found.fits else 'Does not fit'}: {sizes['allocated']} allocated, "
        f"{sizes['reserved']} reserved, {sizes['process']} in nvidia-smi",
    )


def _plain(text: str) -> str:
    """Return a text that neither ends a cell of a table nor is markup."""
    marks = {"|": "\\|", "<": "&lt;", ">": "&gt;", "`": "'"}
    return "".join(marks.get(letter, letter) for letter in " ".join(text.split()))
