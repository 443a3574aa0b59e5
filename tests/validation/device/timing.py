"""Seconds of a kernel: the median of repeats, each of many calls between two events of the GPU."""

import csv
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path

import torch

CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
SMALLER = 1 if CUDA else 16  # divides sizes where there is no GPU, to try the scripts out
REPEATS = 7
LONG = 0.015 if CUDA else 0.002  # seconds of one repeat
WARM = 0.06 if CUDA else 0.0  # seconds before the first repeat
CACHE = (
    150e6 if CUDA else 1e6
)  # inputs change until so many bytes were touched: no cache holds them
MOST_SETS, MOST_CALLS = 12, 400
SPREAD = ("repeats", "calls", "least", "most")
_SEEN = "name,driver_version,memory.total,power.limit,clocks.max.sm,clocks.max.mem"


def sets(size: float) -> int:
    """Return how many sets of inputs of `size` bytes to rotate."""
    return int(max(1, min(MOST_SETS, -(-CACHE // size))))


def seconds(
    works: Sequence[Callable[[], object]], *, graph: bool = True, warm: float = WARM
) -> dict[str, float]:
    """Return the median time of a call, and least and most of the repeats.

    `graph`: the calls are captured once and replayed, so that no launch is waited for. `warm`:
    seconds for which they run before the first repeat.
    """
    for work in works:
        work()
    once = _once(lambda: [work() for work in works]) / len(works)
    calls = int(max(1, min(MOST_CALLS, LONG / once)))
    run = _captured(works, calls) if graph and CUDA else lambda: _call(works, calls)
    end = time.perf_counter() + warm
    while time.perf_counter() < end:
        run()
        _wait()
    times = [_once(run) / calls for _ in range(REPEATS)]
    middle = statistics.median(times)
    return {
        "time": middle, "repeats": REPEATS, "calls": calls, "least": min(times), "most": max(times)
    }  # fmt: skip


def write(name: str, rows: Iterable[dict[str, object]], folder: str = "") -> None:
    """Write rows as they come, each with the name of the device, so that a stop loses one row."""
    path = Path(folder or (sys.argv[1] if len(sys.argv) > 1 else ".")) / f"{name}.csv"
    start, count = time.perf_counter(), 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer: csv.DictWriter[str] | None = None
        for row in rows:
            row = {"device": device_name()} | {k: _short(v) for k, v in row.items()}
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            count += 1
    print(f"{name}: {count} rows in {time.perf_counter() - start:.0f} s", flush=True)


def device_name() -> str:
    """Return what the device calls itself."""
    return torch.cuda.get_device_name() if CUDA else "CPU"


def machine() -> dict[str, object]:
    """Return everything that a table needs to be read again."""
    now = datetime.now(UTC)
    found: dict[str, object] = {
        "date": f"{now:%Y-%m-%d}",
        "device": device_name(),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version(),
        "python": sys.version.split()[0],
        "repeats": REPEATS,
    }
    if CUDA:
        facts = torch.cuda.get_device_properties(0)
        found |= {"sms": facts.multi_processor_count, "cache": facts.L2_cache_size}
        found |= {"memory": facts.total_memory}
        command = ["nvidia-smi", f"--query-gpu={_SEEN}", "--format=csv,noheader,nounits"]
        told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        found |= dict(zip(_SEEN.split(","), map(str.strip, told.split(",")), strict=False))
    return found


def _short(value: object) -> object:
    return f"{value:.5g}" if isinstance(value, float) else value


def _call(works: Sequence[Callable[[], object]], calls: int) -> None:
    for work in islice(cycle(works), calls):
        work()


def _captured(works: Sequence[Callable[[], object]], calls: int) -> Callable[[], object]:
    found = torch.cuda.CUDAGraph()
    with torch.cuda.graph(found):
        _call(works, calls)
    return found.replay


def _wait() -> None:
    if CUDA:
        torch.cuda.synchronize()


def _once(run: Callable[[], object]) -> float:
    if not CUDA:
        start = time.perf_counter()
        run()
        return max(1e-9, time.perf_counter() - start)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    run()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1000
