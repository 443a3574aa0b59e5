"""Write where every published plan stands among all plans of its job.

    python -m tests.validation.ranks [--workers N]

writes `engine/catalog/planned_table.tsv`: for each published run its rank, its step over that of
the best plan, and in what the best plan differs. Run it after every change of a formula or a
constant; `test_planner.py` computes every best plan again, and ranks some runs again.
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
    workers = parser.parse_args(arguments).workers
    runs = [(case.row["row_id"], case.run) for case in cases(DATA)[0]]
    # The same run in another release or paper is looked at once.
    first: dict[str, str] = {}
    same = {key: first.setdefault(repr(run), key) for key, run in runs}
    found: dict[str, str] = {}
    with multiprocessing.Pool(workers) as pool:
        asked = [pair for pair in runs if same[pair[0]] == pair[0]]
        for key, row, seconds in pool.imap_unordered(_timed, asked):
            found[key] = row
            print(f"{len(found)} of {len(asked)}  {seconds:.1f} s  {key}  {row}", flush=True)
    lines = [f"{key}\t{found[same[key]]}\n" for key, _ in runs]
    TABLE.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
