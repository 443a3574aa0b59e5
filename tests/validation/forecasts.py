"""The ledger of forecasts: add a row, score one, check the chain of hashes.

    python -m tests.validation.forecasts add RUN.json NAME "What is predicted" "What counts"
    python -m tests.validation.forecasts score NAME SECONDS DATE ADDRESS ["How the run differs"]
    python -m tests.validation.forecasts check

A row is frozen when it is written: its numbers stay those of the engine that made them.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from engine.catalog import forecasts as catalog
from engine.run.file import read_run
from engine.simulate.step.step_range import step_range
from engine.simulate.step.step_time import step_time

ROOT = Path(__file__).parents[2]
FOLDER = Path(catalog.__file__).parent
LEDGER = FOLDER / "forecasts_table.tsv"
SCORES = FOLDER / "forecast_scores_table.tsv"


def row_hash(fields: Iterable[str]) -> str:
    """Return the hash of a row's columns but the last: `cut -f1-11 | sha256sum` of its line."""
    return hashlib.sha256(("\t".join(fields) + "\n").encode()).hexdigest()


def chain_problems(text: str) -> list[str]:
    """Return a sentence for each row whose hash, or whose link to the row before, is not right."""
    problems, before = [], ""
    for line in text.splitlines()[1:]:
        *fields, written = line.split("\t")
        if fields[-1] != before:
            problems.append(f"{fields[0]}: does not follow the row before it")
        if row_hash(fields) != written:
            problems.append(f"{fields[0]}: was changed after it was written")
        before = written
    return problems


def new_line(ledger: str, run_text: str, words: Sequence[str], engine: Sequence[str]) -> str:
    """Return the line that continues a ledger.

    Args:
        ledger: text of the file.
        run_text: a run file.
        words: name, what is predicted, what counts.
        engine: date, version and commit.

    Raises:
        ValueError: the name is taken, or a text holds a tab or a line feed.
        InputError: the run file is not valid.
    """
    name, what, counts = words
    lines = ledger.splitlines()[1:]
    if name in {line.partition("\t")[0] for line in lines}:
        raise ValueError(f"the ledger has '{name}' already; a row is never changed")
    document = json.loads(run_text)
    run = read_run(document)
    step = step_time(run.model, run.cluster, run.plan, run.training).total
    low, high, _ = step_range(run, step)
    compact = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    before = lines[-1].rpartition("\t")[2] if lines else ""
    numbers = (f"{seconds:.6g}" for seconds in (low, step, high))
    fields = (name, *engine, what, counts, *numbers, compact, before)
    if any(mark in field for field in fields for mark in "\t\n"):
        raise ValueError("a column holds a tab or a line feed")
    return "\t".join((*fields, row_hash(fields))) + "\n"


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ("git", *arguments), cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout.strip()


def add(file: Path, *words: str) -> str:
    """Append the forecast of a run file to the ledger; return its line."""
    ledger = f"{LEDGER.relative_to(ROOT)}"
    if _git("status", "--porcelain", "--", "engine", f":!{ledger}"):
        raise ValueError("the engine differs from its commit; commit it first")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    engine = date.today().isoformat(), project["version"], _git("rev-parse", "HEAD")
    text = LEDGER.read_text("utf-8")
    line = new_line(text, file.read_text("utf-8"), words, engine)
    LEDGER.write_text(text + line, "utf-8")
    return line


def score(name: str, seconds: float, day: str, address: str, note: str = "") -> str:
    """Append a measured step to the scores; return its line."""
    if name not in {row.name for row in catalog.forecasts()} - set(catalog.scores()):
        raise ValueError(f"'{name}' is no forecast without a score")
    line = "\t".join((name, day, f"{seconds:g}", address, note)) + "\n"
    SCORES.write_text(SCORES.read_text("utf-8") + line, "utf-8")
    return line


def main() -> int:
    """Run a verb."""
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    adding = verbs.add_parser("add")
    adding.add_argument("file", type=Path)
    for word in ("name", "what", "counts"):
        adding.add_argument(word)
    scoring = verbs.add_parser("score")
    scoring.add_argument("name")
    scoring.add_argument("seconds", type=float)
    scoring.add_argument("day")
    scoring.add_argument("address")
    scoring.add_argument("note", nargs="?", default="")
    verbs.add_parser("check")
    chosen = vars(parser.parse_args())
    verb = chosen.pop("verb")
    if verb == "check":
        problems = chain_problems(LEDGER.read_text("utf-8"))
        print("\n".join(problems) or "Every row is as it was written.")
        return bool(problems)
    try:
        print({"add": add, "score": score}[verb](*chosen.values()), end="")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
