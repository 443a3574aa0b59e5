"""Exports of an imported job: configurations of other software, Markdown, CSV."""

import json
from collections.abc import Mapping

from engine.core.numbers import DEFAULT, format_value
from engine.core.units import BYTES, SECONDS, SHARE
from engine.form.imported.export_formats import EXPORTS
from engine.form.memory_fit import TITLES
from engine.form.run.result import RunEstimate
from engine.run.importers.assemble import ImportedRun

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
    """Return the estimate and the meaning of every key as Markdown."""
    lines = [f"# {', '.join(imported.dialects)}", ""]
    if estimated is not None:
        lines += [f"- {line}" for line in _estimate_lines(estimated)]
    lines += [f"- Contradiction: {_escape_markdown(line)}" for line in imported.contradictions]
    lines += ["", "| what became of it | line | key | value | meaning |", "|---|---|---|---|---|"]
    for entry in imported.entries:
        cells = (entry.kind, str(entry.line or ""), entry.key, entry.value, entry.meaning)
        lines.append("| " + " | ".join(map(_escape_markdown, cells)) + " |")
    return "\n".join(lines) + "\n"


def _estimate_lines(estimated: RunEstimate) -> tuple[str, ...]:
    result = estimated.estimate
    low, high = result["step_time_low"], result["step_time_high"]
    sizes = {
        name: format_value(result[f"memory_{name}"], BYTES, DEFAULT)
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
