"""`python -m engine sweep GRID.toml`: best plans for a grid of jobs, in many processes."""

import argparse
import csv
import importlib
import json
import multiprocessing
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from engine.core.slices import run_to_end
from engine.core.units import DAY, HOUR, Count
from engine.form.memory_fit import tight_mark
from engine.form.planner.plan_text import plan_name
from engine.run.document import InputError
from engine.run.plan_space import PlanningJob
from engine.run.sweep_grid import SweepPoint, planner_request, read_grid
from engine.simulate.memory.allocator import reported_bytes
from engine.simulate.planner.evaluate import Candidate, candidate_run
from engine.simulate.planner.search import fastest_plans, ordered_shapes
from engine.simulate.planner.ties import Tie, find_ties
from engine.simulate.step.step_range import step_range

USAGE = "python -m engine sweep GRID.toml [--out STEM] [--workers N | --scheduler tcp://HOST:PORT]"
PointRows = tuple[str, list[dict[str, Any]]]


def main(arguments: Sequence[str]) -> int:
    """Run or resume a sweep; return 0, or 2 for an invalid grid."""
    parser = argparse.ArgumentParser(usage=USAGE, allow_abbrev=False)
    parser.add_argument("grid")
    parser.add_argument("--out", default="sweep", metavar="STEM")
    parser.add_argument("--workers", type=int, choices=range(1, 65), metavar="N")
    parser.add_argument("--scheduler", metavar="tcp://HOST:PORT")
    options = parser.parse_args(arguments)
    try:
        with open(options.grid, "rb") as file:  # noqa: PTH123 (the engine knows no paths)
            points = read_grid(tomllib.load(file))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        return _fail([f"{options.grid}: {error}; allowed: a TOML file with a grid"])
    except InputError as error:
        return _fail(error.problems)
    except ValueError:
        return _fail([f"{options.grid}: a number is too long; allowed: a TOML file with a grid"])
    journal = f"{options.out}.jsonl"
    finished = read_journal(journal)
    remaining = [point for point in points if point.key not in finished]
    _say(f"{len(points)} searches, {len(points) - len(remaining)} of them done before.")
    try:
        done = (
            _run_on_cluster(options.scheduler, remaining)
            if options.scheduler
            else _run_locally(remaining, options)
        )
        for number, (key, rows) in enumerate(done, start=1):
            append_to_journal(journal, key, rows)
            finished[key] = rows
            _say(f"{number} of {len(remaining)}")
    except ImportError:
        return _fail(
            ["--scheduler: needs Dask; allowed: after pip install 'wallclock-training[sweep]'"]
        )
    files = write_tables(options.out, (row for point in points for row in finished[point.key]))
    _say("Written: " + ", ".join(files))
    if len(files) == 1:
        _say(
            "For Parquet too: pip install 'wallclock-training[sweep]', then the same command again."
        )
    return 0


def search_point(point: SweepPoint) -> PointRows:
    """Return a point's key and rows; the task of pool and Dask workers."""
    return point.key, point_rows(point)


def _run_locally(points: Sequence[SweepPoint], options: argparse.Namespace) -> Iterator[PointRows]:
    """Yield points as local processes finish them."""
    workers: Count = min(options.workers or multiprocessing.cpu_count(), len(points))
    if workers <= 1:
        yield from map(search_point, points)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(search_point, points)


def _run_on_cluster(address: str, points: Sequence[SweepPoint]) -> Iterator[PointRows]:
    """Yield points as the workers of a Dask cluster finish them.

    A worker that dies gives its points back, and Dask has another one do them.
    """
    # By name, since the engine runs without it: it belongs to the extra [sweep].
    distributed = importlib.import_module("distributed")
    with distributed.Client(address) as client:
        futures = client.map(search_point, points, key=[f"sweep-{point.key}" for point in points])
        for future in distributed.as_completed(futures):
            yield future.result()
            future.release()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _fail(problems: Sequence[str]) -> int:
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 2


# One point of a sweep: rows with the best plan of a job, one per price.

_PLAN = (
    "tensor_parallel",
    "pipeline_parallel",
    "virtual_pipeline",
    "context_parallel",
    "expert_parallel",
    "expert_tensor_parallel",
    "zero_stage",
    "shard_group",
)
_TRAINING = ("framework", "precision", "micro_batch_size", "recompute", "schedule")
_COLUMNS = (
    *("plan", "step_time", "step_time_low", "step_time_high", "tokens_per_second_per_gpu"),
    *("peak_memory", "days", "tied_kinds", "simplest_tied", "simplest_step_time"),
    *(*_PLAN, "data_parallel", *_TRAINING),
)


def point_rows(point: SweepPoint) -> list[dict[str, Any]]:
    """Return the rows of a point in SI units, except days and prices per hour."""
    job = planner_request(point).job
    shapes = ordered_shapes(job)
    search = fastest_plans(job, 1, shapes)
    plan: dict[str, Any] = dict.fromkeys(_COLUMNS)
    if search.best:
        best = search.best[0]
        plan |= _plan_columns(job, best, point.request["tokens"])
        plan |= _tie_columns(run_to_end(find_ties(search.job, best, shapes)))
    days = plan["days"]
    return [
        _job_columns(job, point)
        | {"price": price * HOUR}
        | plan
        | {"cost": None if days is None else days * DAY * price * job.world_size}
        for price in point.prices
    ]


def _job_columns(job: PlanningJob, point: SweepPoint) -> dict[str, Any]:
    return {
        "model": job.model.name,
        "cluster": point.cluster,
        "gpu": job.cluster.gpu.name,
        "world_size": job.world_size,
        "gpus_per_node": job.cluster.gpus_per_node,
        "nics_per_node": job.cluster.nics_per_node,
        "nic_bandwidth": job.cluster.nic_bandwidth,
        "sequence_length": job.training.sequence_length,
        "global_batch_size": job.training.global_batch_size,
        "tokens": point.request["tokens"],
        "kept_free": job.kept_free,
    }


def _tie_columns(tie: Tie) -> dict[str, Any]:
    simplest = tie.simplest
    return {
        "tied_kinds": len(tie.kinds),
        "simplest_tied": plan_name(simplest.plan, simplest.training) + tight_mark(simplest.fit),
        "simplest_step_time": simplest.step,
    }


def _plan_columns(job: PlanningJob, best: Candidate, tokens: int) -> dict[str, Any]:
    batch = job.training.global_batch_size * job.training.sequence_length
    low, high, _ = step_range(candidate_run(job, best.plan, best.training), best.step)
    return {
        "plan": plan_name(best.plan, best.training) + tight_mark(best.fit),
        "step_time": best.step,
        "step_time_low": low,
        "step_time_high": high,
        "tokens_per_second_per_gpu": batch / best.step / job.world_size,
        "peak_memory": reported_bytes(best.memory, best.training),
        "days": tokens / batch * best.step / DAY,
        **{key: getattr(best.plan, key) for key in _PLAN},
        "data_parallel": best.plan.data_parallel,
        **{key: getattr(best.training, key) for key in _TRAINING},
    }


# Files of a sweep: a journal with a line per point, and the final tables.
#
# The journal is what a killed sweep goes on from. Each line is handed to the system at once, so
# that it outlasts the process; a line that was cut off counts as not written.

Row = Mapping[str, Any]


def read_journal(path: str) -> dict[str, list[dict[str, Any]]]:
    """Return rows by point key, and truncate an incomplete last line."""
    rows_by_point: dict[str, list[dict[str, Any]]] = {}
    with open(path, "a+b") as file:  # noqa: PTH123 (the engine knows no paths)
        file.seek(0)
        valid_bytes = 0
        for line in file:
            try:
                entry = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                entry = None
            if entry is None:
                break
            rows_by_point[entry["key"]] = entry["rows"]
            valid_bytes += len(line)
        file.truncate(valid_bytes)
    return rows_by_point


def append_to_journal(path: str, key: str, rows: Sequence[Row]) -> None:
    """Append the rows of a point to the journal in one write."""
    line = json.dumps({"key": key, "rows": list(rows)}, ensure_ascii=False) + "\n"
    with open(path, "ab", buffering=0) as file:  # noqa: PTH123
        file.write(line.encode())


def write_tables(stem: str, rows: Iterable[Row]) -> list[str]:
    """Write the table as CSV and, where PyArrow is installed, as Parquet; return the files."""
    table_rows = list(rows)
    written = [f"{stem}.csv"]
    with open(written[0], "w", newline="", encoding="utf-8") as file:  # noqa: PTH123
        writer = csv.DictWriter(file, fieldnames=list(table_rows[0]))
        writer.writeheader()
        writer.writerows(table_rows)
    # By name, since the engine runs without it: it belongs to the extra [sweep].
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        return written
    written.append(f"{stem}.parquet")
    parquet.write_table(arrow.Table.from_pylist(table_rows), written[-1])
    return written
