"""Write where every published plan stands among all plans of its job.

    python -m tests.validation.ranks [--workers N] [--new]

writes `engine/catalog/planned_table.tsv`: for each published run its rank, its step over that of
the best plan, and in what the best plan differs. Run it after every change of a formula or a
constant, and with `--new`, which ranks only rows that the table has no line of, after a row was
added; `test_planner.py` computes every best plan again, and ranks some runs again.
"""

import argparse
import multiprocessing
import sys
import time

from engine.core.slices import run_to_end
from engine.run.plan_difference import format_plan_difference
from engine.run.run import Run
from engine.simulate.planner.evaluate import candidate_run
from engine.simulate.planner.ranked import job_of_run, rank_plan, with_layer_cut
from tests.validation.published import DATA, ROOT
from tests.validation.rows import cases

TABLE = ROOT / "engine" / "catalog" / "planned_table.tsv"
# Steps are the same on every machine to far more digits than this.
DIGITS = 6


def row_of(run: Run) -> str:
    """Return what the table says of a run: rank, step over the best one's, the best plan."""
    found = run_to_end(rank_plan(run))
    if not found.rank:
        return "0\t\t"
    cut = with_layer_cut(run)
    best = found.best
    other = (
        format_plan_difference(cut, candidate_run(job_of_run(cut), best.plan, best.training))
        if best
        else ""
    )
    return f"{found.rank}\t{found.reason.slower:.{DIGITS}g}\t{other}"


def _timed(pair: tuple[str, Run]) -> tuple[str, str, float]:
    start = time.perf_counter()
    return pair[0], row_of(pair[1]), time.perf_counter() - start


def main(arguments: list[str]) -> None:
    """Rank every published run, with all processors."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--new", action="store_true", help="keep the lines that there are")
    given = parser.parse_args(arguments)
    lines = TABLE.read_text("utf-8").splitlines() if given.new else []
    kept = dict(line.split("\t", 1) for line in lines)
    runs = [(case.row["row_id"], case.run) for case in cases(DATA)[0]]
    # The same run in another release or paper is looked at once.
    first: dict[str, str] = {}
    same = {key: first.setdefault(repr(run), key) for key, run in runs}
    found = {same[key]: row for key, row in kept.items() if key in same}
    with multiprocessing.Pool(given.workers) as pool:
        asked = [pair for pair in runs if same[pair[0]] == pair[0] and pair[0] not in found]
        for key, row, seconds in pool.imap_unordered(_timed, asked):
            found[key] = row
            of = len(set(same.values()))
            print(f"{len(found)} of {of}  {seconds:.1f} s  {key}  {row}", flush=True)
    lines = [f"{key}\t{found[same[key]]}\n" for key, _ in runs]
    TABLE.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
