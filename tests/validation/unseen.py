"""Predict each published run with constants that were fitted without it.

Without its source, and without its model: `unseen` returns the errors of both. The constants are
fitted to the remaining runs on the straight lines through the tabled constants (see `fit`), and the
runs that were left out are then predicted in full, on no line.
"""

import re
from collections.abc import Callable, Sequence

from engine.run.published import PublishedRun
from tests.validation.fit import Lines, Name, lines, names, ratio, solved, tabled

# How far a constant may go that the runs left over say nothing of: all the way back to what was
# assumed before.
REACH = 2.0
_SIZES = re.compile(r"[ (]*(?:layer-cut|\d+ layers).*$")


def source_of(case: PublishedRun) -> str:
    """The table that a run comes from."""
    return case.row["source_file"]


def model_of(case: PublishedRun) -> str:
    """The model, however a source spells it: cut and whole, 3 and 3.1, all sizes of a sweep."""
    name = case.row["model"].lower().replace("llama-", "llama ").replace("llama2", "llama 2")
    name = _SIZES.sub("", name.replace("llama3", "llama 3").replace("llama 3.1", "llama 3"))
    name = name.replace("-", " ").replace("llama 3 8b ", "llama 3 8b").strip()
    if name.startswith("gpt/bloom"):
        return "bloom-like"
    if name == "gpt":
        return f"gpt {source_of(case).partition('_')[0]}"
    return name


def without(
    case_key: Callable[[PublishedRun], str], found: Sequence[PublishedRun], drawn: Lines
) -> dict[str, float]:
    """Return the error of every run, predicted without the runs of the same key, by its row."""
    trusted = [case.trusted for case in found]
    errors = {}
    for key in sorted({case_key(case) for case in found}):
        rest = [i for i, case in enumerate(found) if trusted[i] and case_key(case) != key]
        kept = Lines(at=drawn.at, ratios=drawn.ratios[rest], slopes=drawn.slopes[rest])
        refitted = drawn.at.moved(solved(kept, [found[i] for i in rest], REACH))
        for case in found:
            if case_key(case) == key:
                errors[case.row["row_id"]] = ratio(case, refitted)
    return errors


def reaches(found: Sequence[PublishedRun], drawn: Lines) -> dict[Name, tuple[float, float]]:
    """Return between which values each constant lies when any one source is left out."""
    values: dict[Name, list[float]] = {name: [] for name in names()}
    for key in sorted({source_of(case) for case in found}):
        rest = [i for i, case in enumerate(found) if case.trusted and source_of(case) != key]
        kept = Lines(at=drawn.at, ratios=drawn.ratios[rest], slopes=drawn.slopes[rest])
        moved = drawn.at.moved(solved(kept, [found[i] for i in rest], REACH))
        for name, one in values.items():
            one.append(moved.value(name))
    return {name: (min(one), max(one)) for name, one in values.items()}


def unseen(
    found: Sequence[PublishedRun], drawn: Lines | None = None
) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Return, by row, the logarithm of predicted over measured: seen, by source, by model."""
    drawn = drawn or lines(found, tabled())
    seen = {case.row["row_id"]: float(x) for case, x in zip(found, drawn.ratios, strict=True)}
    return seen, without(source_of, found, drawn), without(model_of, found, drawn)
