"""Reader of a sweep's CSV table: jobs with their best plans and costs.

CSV as `python -m engine sweep` writes it; tabs and semicolons separate cells as well, since other
programs save so. The columns may stand in any order, and further ones do not matter.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.core.units import DAY, HOUR, Bytes, Count, Money, Price, Seconds, TokenRate
from engine.run.importers.import_report import TextError

LONGEST_SWEEP = 1_000_000
MOST_ROWS = 5_000
# What makes a job, and what was found of it. Sweeps of 2026 before November had no others.
_JOB = ("model", "cluster", "gpu", "world_size", "sequence_length", "global_batch_size")
_FOUND = ("plan", "step_time", "step_time_low", "step_time_high", "tokens_per_second_per_gpu")
_COLUMNS = (*_JOB, "price", *_FOUND, "peak_memory", "days", "cost")
_SHOWN = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class SweptJob:
    """One job of a sweep.

    Attributes:
        model: its name, as are cluster and GPU.
        plan: the best one; empty where none fits.
        step: of that plan, between low and high; 0 where none fits, and so is all that follows.
        rate: tokens of a GPU.
        costs: of the whole run, by the price of a GPU; the lowest price first.
        settings: the rest of its columns as they stand there: the plan's sizes, the machines.
    """

    model: str
    cluster: str
    gpu: str
    world_size: Count
    sequence_length: Count
    global_batch_size: Count
    plan: str
    step: Seconds
    low: Seconds
    high: Seconds
    rate: TokenRate
    memory: Bytes
    time: Seconds
    costs: tuple[tuple[Price, Money], ...]
    settings: Mapping[str, str]

    @property
    def cost(self) -> Money:
        """At the lowest price."""
        return self.costs[0][1]


def read_sweep(text: str) -> tuple[SweptJob, ...]:
    """Return the jobs of a table, each once with all its prices, in their order.

    Raises:
        TextError: it is no such table; the message says where and why.
    """
    lines = _rows(text)
    _, head = next(lines, (0, []))
    names = [cell.strip() for cell in head]
    lacking = [name for name in _COLUMNS if name not in names]
    if lacking:
        raise TextError(
            f"line 1 has no column {', '.join(lacking[:4])}; allowed: the table of a sweep, whose "
            f"first line names {len(_COLUMNS)} columns or more"
        )
    jobs: dict[tuple[str, ...], SweptJob] = {}
    for number, (line, cells) in enumerate(lines, start=1):
        if number > MOST_ROWS:
            raise TextError(f"line {line}: more than {MOST_ROWS:,} rows; at most so many are read")
        if len(cells) != len(names):
            raise TextError(f"line {line} has {len(cells)} cells; the first line has {len(names)}")
        row = dict(zip(names, (cell.strip() for cell in cells), strict=True))
        job = _job(row, line)
        key = tuple(row[name] for name in _JOB)
        jobs[key] = _with_price(jobs[key], job) if key in jobs else job
    if not jobs:
        raise TextError("the table has no row below the names of its columns")
    return tuple(jobs.values())


def _with_price(known: SweptJob, more: SweptJob) -> SweptJob:
    return replace(known, costs=tuple(sorted({**dict(known.costs), **dict(more.costs)}.items())))


def _job(row: Mapping[str, str], line: int) -> SweptJob:
    fits = bool(row["plan"])
    counts = {name: _count(row, name, line) for name in _JOB[3:]}

    def number(name: str) -> float:
        return _number(row, name, line) if fits else 0.0

    return SweptJob(
        model=row["model"],
        cluster=row["cluster"],
        gpu=row["gpu"],
        **counts,
        plan=row["plan"],
        step=number("step_time"),
        low=number("step_time_low"),
        high=number("step_time_high"),
        rate=number("tokens_per_second_per_gpu"),
        memory=number("peak_memory"),
        time=number("days") * DAY,
        costs=((_number(row, "price", line) / HOUR, number("cost")),),
        settings={name: text for name, text in row.items() if name not in _COLUMNS},
    )


def _number(row: Mapping[str, str], name: str, line: int) -> float:
    try:
        value = float(row[name])
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise TextError(f"line {line}, {name}: '{row[name][:_SHOWN]}'; allowed: a number from 0")
    return value


def _count(row: Mapping[str, str], name: str, line: int) -> Count:
    value = _number(row, name, line)
    if value < 1 or value != int(value):
        allowed = "allowed: a whole number from 1"
        raise TextError(f"line {line}, {name}: '{row[name][:_SHOWN]}'; {allowed}")
    return int(value)


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not empty, with the number of its line."""
    first = text.lstrip("\n").partition("\n")[0]
    mark = max(",\t;", key=first.count)
    cells: list[str] = []
    opened = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not opened and not line.strip():
            continue
        start = opened or number
        opened = 0 if _split(line, mark, cells, inside=bool(opened)) else start
        if not opened:
            yield start, cells
            cells = []
    if opened:
        raise TextError(f"line {opened}: a quoted cell is never closed")


def _split(line: str, mark: str, cells: list[str], *, inside: bool) -> bool:
    """Add the cells of a line; return whether the last of them is closed."""
    quoted = inside
    if inside:
        cells[-1] += "\n"
    else:
        cells.append("")
    offset = 0
    while offset < len(line):
        sign = line[offset]
        if sign == '"' and quoted and line[offset : offset + 2] == '""':
            cells[-1] += '"'
            offset += 1
        elif sign == '"' and (quoted or not cells[-1]):
            quoted = not quoted
        elif sign == mark and not quoted:
            cells.append("")
        else:
            cells[-1] += sign
        offset += 1
    return not quoted


def sort_jobs(jobs: Sequence[SweptJob], order: str) -> list[SweptJob]:
    """Return jobs in table order or sorted by one number; jobs that do not fit come last."""
    keys: Mapping[str, Callable[[SweptJob], float]] = {
        "table": lambda job: 0.0,
        "step": lambda job: job.step,
        "time": lambda job: job.time,
        "cost": lambda job: job.cost,
        "rate": lambda job: -job.rate,
        "gpus": lambda job: float(job.world_size),
    }
    if order == "table":
        return list(jobs)
    return sorted(jobs, key=lambda job: (not job.plan, keys[order](job)))


def pareto_front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the Pareto front of points, sorted by the first number."""
    kept: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if not kept or y < kept[-1][1]:
            kept.append((x, y))
    return kept


def filter_jobs(jobs: Sequence[SweptJob], words: str) -> list[SweptJob]:
    """Return the jobs whose names, sizes or plan contain every word, ignoring case.

    A bare number is not looked for in plans, where it would be any of their sizes.
    """
    wanted = words.lower().split()

    def has(job: SweptJob, word: str) -> bool:
        sizes = f"{job.world_size} {job.sequence_length} {job.global_batch_size}"
        text = f"{job.model} {job.cluster} {job.gpu} {sizes}"
        return word in (text if word.isdigit() else f"{text} {job.plan}").lower()

    return [job for job in jobs if all(has(job, word) for word in wanted)]
