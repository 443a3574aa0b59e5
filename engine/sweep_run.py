"""`python -m engine sweep GRID.toml`: the best plan of every job of a grid, on many processes."""

import argparse
import importlib
import multiprocessing
import sys
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from engine.core.units import Count
from engine.run.document import InputError
from engine.run.sweep_grid import Point, read_grid
from engine.sweep_files import add_to_journal, read_journal, write_tables
from engine.sweep_point import rows

USAGE = "python -m engine sweep GRID.toml [--out STEM] [--workers N | --scheduler tcp://HOST:PORT]"
Done = tuple[str, list[dict[str, Any]]]


def main(arguments: Sequence[str]) -> int:
    """Go on with a sweep until it is whole; return 0, or 2 where its grid cannot be used."""
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
    except ValueError:
        return _fail([f"{options.grid}: a number is too long; allowed: a TOML file with a grid"])
    except InputError as error:
        return _fail(error.problems)
    journal = f"{options.out}.jsonl"
    known = read_journal(journal)
    left = [one for one in points if one.key not in known]
    _say(f"{len(points)} searches, {len(points) - len(left)} of them done before.")
    try:
        done = _cluster(options.scheduler, left) if options.scheduler else _local(left, options)
        for number, (key, found) in enumerate(done, start=1):
            add_to_journal(journal, key, found)
            known[key] = found
            _say(f"{number} of {len(left)}")
    except ImportError:
        return _fail(["--scheduler: needs Dask; allowed: after pip install 'wallclock[sweep]'"])
    files = write_tables(options.out, (row for one in points for row in known[one.key]))
    _say("Written: " + ", ".join(files))
    if len(files) == 1:
        _say("For Parquet too: pip install 'wallclock[sweep]', then the same command again.")
    return 0


def search(point: Point) -> Done:
    """Return a point's key and rows; what processes and workers run."""
    return point.key, rows(point)


def _local(points: Sequence[Point], options: argparse.Namespace) -> Iterator[Done]:
    """Yield points as they are done by processes of this machine."""
    workers: Count = min(options.workers or multiprocessing.cpu_count(), len(points))
    if workers <= 1:
        yield from map(search, points)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(search, points)


def _cluster(address: str, points: Sequence[Point]) -> Iterator[Done]:
    """Yield points as they are done by the workers of a Dask cluster.

    A worker that dies gives its points back, and Dask has another one do them.
    """
    # By name, since the engine runs without it: it belongs to the extra [sweep].
    distributed = importlib.import_module("distributed")
    with distributed.Client(address) as client:
        futures = client.map(search, points, key=[f"sweep-{one.key}" for one in points])
        for future in distributed.as_completed(futures):
            yield future.result()
            future.release()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _fail(problems: Sequence[str]) -> int:
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 2
