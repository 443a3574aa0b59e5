"""Import of a text with one or several configurations into a run file."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.catalog.recent_models import EVERY_MODEL
from engine.run.file import InputError, read_run
from engine.run.importers.dialect import Piece, Unread
from engine.run.importers.dialects import BY_NAME, DIALECTS
from engine.run.importers.import_report import (
    LONGEST_TEXT,
    ReportEntry,
    RunDraft,
    TextError,
    shorten,
)
from engine.run.importers.launch import finish_launch
from engine.run.importers.recognize import recognize
from engine.run.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportDefaults:
    """Defaults for values that no text contains.

    Attributes:
        model: row of the catalog; empty: it must be said.
        cluster: of a run file.
        world_size: GPUs; 0: one node, or what the degrees need.
        leave_out: names of texts that may stay unread; "all" is every one.
    """

    model: str = ""
    cluster: Mapping[str, Any]
    world_size: int = 0
    leave_out: Collection[str] = ()


DGX_H100: Mapping[str, Any] = {
    "gpu": "H100-SXM",
    "gpus_per_node": 8,
    "nics_per_node": 8,
    "nic_bandwidth": 50e9,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRun:
    """The result of an import: entries, contradictions, document and run.

    Attributes:
        dialects: what was recognized, in the order of the text.
        entries: every key.
        warnings: what the answer may leave out, a clause each.
        unread: texts that no reader takes, without those that the reader leaves out.
        contradictions: what does not fit together, as the framework would say it.
        document: the run file; empty where it could not be put together.
        run: what it describes, or nothing.
    """

    dialects: tuple[str, ...]
    entries: tuple[ReportEntry, ...]
    warnings: tuple[str, ...]
    unread: tuple[Unread, ...]
    contradictions: tuple[str, ...]
    document: Mapping[str, Any]
    run: Run | None


def import_run(text: str, defaults: ImportDefaults | None = None) -> ImportedRun:
    """Return the imported run of a text; raise `TextError` with line, column and reason."""
    if len(text) > LONGEST_TEXT:
        raise TextError(f"line 1: {len(text)} characters; allowed: at most {LONGEST_TEXT}")
    draft, defaults_of_text = RunDraft(), defaults or ImportDefaults(cluster=DGX_H100)
    recognized = recognize(text)
    draft.notes["text"] = text
    draft.notes["kinds of text"] = {piece.dialect for piece in recognized.pieces}
    _check_software(recognized.pieces, draft)
    # A command's flags go before the file that it names.
    for piece in sorted(
        recognized.pieces, key=lambda piece_of_dialect: BY_NAME[piece_of_dialect.dialect].overrides
    ):
        draft.dialects.append(piece.dialect)
        before = draft.values.get("model")
        BY_NAME[piece.dialect].reader().read(piece, draft)
        if before is not None and before != draft.values.get("model"):
            draft.warnings.append("two texts describe the model, and the later one is shown")
    return _assemble(
        draft, defaults_of_text, _report_unread(recognized.unread, defaults_of_text, draft)
    )


def _report_unread(
    unread: Sequence[Unread], defaults: ImportDefaults, draft: RunDraft
) -> tuple[Unread, ...]:
    """Report the texts that no reader takes; return those that the reader does not leave out."""
    stopping = []
    for part in unread:
        left_out = "all" in defaults.leave_out or part.name in defaults.leave_out
        reason = "left out, as asked" if left_out else part.sentence()
        draft.entries.append(
            ReportEntry(
                key=shorten(part.name), value="", line=part.first, kind="not read", meaning=reason
            )
        )
        if left_out:
            draft.warnings.append(f"{shorten(part.name)} is left out")
        else:
            stopping.append(part)
            draft.contradictions.append(f"{part.sentence()}; mend it, or leave it out")
    return tuple(stopping)


def _assemble(draft: RunDraft, defaults: ImportDefaults, unread: tuple[Unread, ...]) -> ImportedRun:
    if "document" in draft.notes:
        document: Mapping[str, Any] = draft.notes["document"]
    else:
        if defaults.world_size:
            # Asked for beside the text: what is derived, as the batch, follows from it.
            draft.values["parallelism.world_size"] = defaults.world_size
        _choose_model(draft)
        finish_launch(
            draft,
            int(defaults.cluster["gpus_per_node"]),
            str(defaults.cluster.get("gpu", "")),
            asked=defaults.world_size,
        )
        _derive(draft)
        _warn_of_changes(draft)
        document = _run_document(draft, defaults)
        _warn_of_assumptions(draft)
    run = None
    if "model" not in document and not draft.contradictions:
        draft.contradictions.append(_NO_MODEL)
    if not draft.contradictions:
        try:
            run = read_run(document)
        except InputError as error:
            draft.contradictions += error.problems
    return ImportedRun(
        dialects=tuple(draft.dialects),
        entries=tuple(draft.entries),
        warnings=_grouped(draft.warnings),
        unread=unread,
        contradictions=tuple(draft.contradictions),
        document=document,
        run=run,
    )


_NO_MODEL = "no text says which model: add its config.json, or arguments that say its shape"


def _choose_model(draft: RunDraft) -> None:
    """Take the shape that arguments say before a model that another text describes or names."""
    named, values = draft.values.get("model"), draft.values
    shape = {key.partition(".")[2]: value for key, value in values.items() if key[:6] == "model."}
    if named is None or not {"num_layers", "hidden_size"} & set(shape):
        return
    known = _known(named, shape)
    apart = [key for key in shape if known.get(key) is not None and known[key] != shape[key]]
    if not apart:
        return
    sizes = ", ".join(
        f"{key} {shorten(shape[key])}, not {shorten(known[key])}" for key in apart[:3]
    )
    if {"num_layers", "hidden_size", "num_attention_heads"} <= set(shape):
        del values["model"]
        draft.warnings.append(f"two texts describe the model, and the arguments' is shown: {sizes}")
    else:
        draft.contradictions.append(f"arguments change the model that is named: {sizes}")


def _known(named: object, keys: Collection[str]) -> Mapping[str, Any]:
    """Return the sizes of a model that a text names or describes."""
    if isinstance(named, Mapping):
        return {"num_prediction_layers": 0, **named}
    row = EVERY_MODEL.get(str(named))
    return {key: getattr(row, key, None) for key in keys}


def _warn_of_changes(draft: RunDraft) -> None:
    """Warn of arguments that change a part of the model that the text names or describes."""
    paths = [path for path in draft.values if path[:6] == "model." and draft.lines.get(path)]
    known = _known(draft.values.get("model"), [path[6:] for path in paths])
    for path in paths:
        before, value = known.get(path[6:]), draft.values[path]
        if before is not None and before != value:
            change = f"{path[6:]} {shorten(value)}; the model with {shorten(before)} is shown"
            draft.warnings.append(f"line {draft.lines[path]} changes the model: {change}")


_CHOSEN = (
    "sequence_length", "training.micro_batch_size", "training.global_batch_size",
    "parallelism.world_size",
)  # fmt: skip


def _warn_of_assumptions(draft: RunDraft) -> None:
    """Warn of sizes of the job that no text says and no software has a default for."""
    assumed = {
        entry.key: entry.value
        for entry in draft.entries
        if entry.kind == "assumed"
        and ("(" not in entry.meaning or "Megatron Core" in entry.meaning)
    }
    named = [f"{key.rpartition('.')[2]} {assumed[key]}" for key in _CHOSEN if key in assumed]
    if named:
        draft.warnings.append(f"no text says {', '.join(named)}")


def _grouped(warnings: Sequence[str]) -> tuple[str, ...]:
    """Return the warnings, those that say the same of several keys as one."""
    groups: dict[str, list[str]] = {}
    for warning in warnings:
        match = re.match(r"(\S{1,90}) \(line \d+\)((?::| is| holds) .*)$", warning, re.DOTALL)
        groups.setdefault(match[2] if match else warning, []).append(
            warning[: match.start(2)] if match else ""
        )
    sentences = []
    for meaning, keys in groups.items():
        names = list(dict.fromkeys(keys))
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        verb = meaning
        if len(names) > 1:
            verb = re.sub(r"^ (is|holds)\b", lambda word: _PLURAL[word[1]], meaning)
        sentences.append(f"{', '.join(names[:_MOST_NAMED])}{more}{verb}")
    return tuple(sentences)


_PLURAL = {"is": " are", "holds": " hold"}
_MOST_NAMED = 4  # keys of a warning


def _check_software(pieces: Sequence[Piece], draft: RunDraft) -> None:
    """Record a contradiction if texts of trainers that do not go together describe the job."""
    dialects = [(BY_NAME[piece.dialect], piece) for piece in pieces]
    named = [(one, piece) for one, piece in dialects if one.software]
    for number, (first, piece) in enumerate(named):
        for second, other in named[number + 1 :]:
            joined = second.software in first.joins or first.software in second.joins
            if first.software != second.software and not joined:
                draft.contradictions.append(
                    f"two trainers: {first.name} (line {piece.line}) and {second.name} (line "
                    f"{other.line}); one job has one, so leave one of the texts out"
                )
                return


def _derive(draft: RunDraft) -> None:
    """Complete the draft by the rules of the recognized software."""
    for dialect in DIALECTS:
        finish = dialect.reader().finish if dialect.name in draft.dialects else None
        if finish:
            finish(draft)
            return


def _run_document(draft: RunDraft, defaults: ImportDefaults) -> dict[str, Any]:
    """Return the run file of a draft, with assumed values for the remaining required keys."""
    if "model" not in draft.values and "model.num_layers" not in draft.values and defaults.model:
        draft.assume("model", defaults.model, "no text names the model; add its config.json")
    for key, value in defaults.cluster.items():
        draft.assume(f"cluster.{key}", value, "no text names the machines")
    if "per_node" in draft.notes:
        draft.values["cluster.gpus_per_node"] = draft.notes["per_node"]
    if defaults.world_size:
        draft.values["parallelism.world_size"] = defaults.world_size
    length = 8192 if "training.framework" in draft.values else 4096
    draft.assume("sequence_length", length, "no text says the length")
    draft.assume("training.micro_batch_size", 1, "no text says the batch")
    draft.assume("parallelism.world_size", 8, "no text says how many GPUs")
    draft.assume("training.global_batch_size", draft.values["parallelism.world_size"], "likewise")
    draft.assume("training.precision", "bf16", "no text says the precision")
    if draft.values.get("training.framework") == "megatron":
        from engine.run.importers.megatron_derived import finish_scaling

        finish_scaling(draft)
    return _nest_sections(draft.values)


def _nest_sections(values: Mapping[str, Any]) -> dict[str, Any]:
    sections: dict[str, Any] = {}
    named = "model" in values
    for path, value in values.items():
        section, point, key = path.partition(".")
        if not point:
            sections[section] = value
        elif not (named and section == "model"):
            sections.setdefault(section, {})[key] = value
    order = ("model", "sequence_length", "cluster", "parallelism", "training")
    return {key: sections[key] for key in order if key in sections}
