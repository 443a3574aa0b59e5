"""`python -m engine sweep GRID.toml`: best plans for a grid of jobs, in many processes."""

import argparse
import importlib
import multiprocessing
import sys
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from engine.core.units import Count
from engine.run.document import InputError
from engine.run.sweep_grid import SweepPoint, read_grid
from engine.sweep_files import append_to_journal, read_journal, write_tables
from engine.sweep_point import point_rows

USAGE = "python -m engine sweep GRID.toml [--out STEM] [--workers N | --scheduler tcp://HOST:PORT]"
_EXTRA = "pip install 'wallclock-training[sweep]'"
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
