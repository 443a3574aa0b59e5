"""Grouped products of experts, and plain ones in a row: ... device.grouped FOLDER."""

from collections.abc import Callable, Iterator
from itertools import accumulate

import torch

from tests.validation.device.timing import CUDA, DEVICE, SMALLER, seconds, sets, write

HALF = torch.bfloat16
# Inner length and columns of a forward product: gate and up of one expert, side by side.
SHAPES = {"DeepSeek-V3": (7168, 4096), "Mixtral 8x7B": (4096, 28_672), "Qwen3 30B": (2048, 1536)}
EXPERTS, ROWS = (1, 8, 32, 64), (16, 64, 256, 1024, 4096)
MOST_ROWS = 65_536
_Work = Callable[[], object]


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, device=DEVICE, dtype=HALF)


def spread(experts: int, rows: int, even: bool) -> list[int]:
    """Return the rows of each expert: even, or falling as 1, 1/2, 1/3, ... in sixteens."""
    if even:
        return [rows] * experts
    shares = [1 / (at + 1) for at in range(experts)]
    found = [max(16, round(experts * rows * one / sum(shares) / 16) * 16) for one in shares]
    found[0] += experts * rows - sum(found)
    return found


def works(counts: list[int], inner: int, columns: int) -> dict[str, _Work]:
    """Return the three grouped products of a pass, and the forward one expert by expert."""
    experts, total = len(counts), sum(counts)
    x, dy = random(total, inner), random(total, columns)
    weight = random(experts, columns, inner)
    ends = torch.tensor(list(accumulate(counts)), device=DEVICE, dtype=torch.int32)
    xs, outs = x.split(counts), torch.empty_like(dy).split(counts)

    def one_by_one() -> None:
        for x_i, w_i, out in zip(xs, weight, outs, strict=True):
            torch.mm(x_i, w_i.t(), out=out)

    return {
        "forward": lambda: torch._grouped_mm(x, weight.transpose(-2, -1), offs=ends),
        "input gradient": lambda: torch._grouped_mm(dy, weight, offs=ends),
        "weight gradient": lambda: torch._grouped_mm(dy.t(), x, offs=ends),
        "one by one": one_by_one,
    }


def cases() -> Iterator[tuple[str, tuple[int, int], int, int, bool]]:
    for model, shape in SHAPES.items():
        for experts in EXPERTS:
            for rows in ROWS:
                if experts * rows <= MOST_ROWS:
                    yield model, shape, experts, rows, True
    for rows in (64, 256, 1024):
        yield "DeepSeek-V3", SHAPES["DeepSeek-V3"], 32, rows, False


def rows() -> Iterator[dict[str, object]]:
    for model, shape, experts, count, even in cases():
        inner, columns = (side // SMALLER for side in shape)
        counts = spread(experts, count, even)
        size = 2.0 * (sum(counts) * (inner + columns) + experts * inner * columns)
        made = [works(counts, inner, columns) for _ in range(sets(size))]
        facts: dict[str, object] = {
            "name": model, "experts": experts, "rows": count, "even": int(even),
            "busiest": max(counts), "columns": columns, "inner": inner,
        }  # fmt: skip
        for each in made[0]:
            try:
                yield facts | {"pass": each} | seconds([one[each] for one in made])
            except RuntimeError as error:
                print(f"{facts} {each}: {str(error)[:200]}", flush=True)
        del made
        if CUDA:
            torch.cuda.empty_cache()


if __name__ == "__main__":
    write("grouped", rows())
