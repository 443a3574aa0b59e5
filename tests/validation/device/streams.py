"""What moves bytes or waits for launches: copies, element-wise kernels, the loss, the optimizer.

python -m tests.validation.device.streams FOLDER
"""

import sys
import time
from collections.abc import Callable, Iterator

import torch
from torch.nn import functional

from tests.validation.device.llama import eager_norm, rotate
from tests.validation.device.timing import CUDA, DEVICE, SMALLER, seconds, write

HALF = torch.bfloat16
TOKENS, HIDDEN, INNER, HEADS, SIZE = 8192 // SMALLER, 4096 // SMALLER, 14_336 // SMALLER, 32, 128
_Work = Callable[[], object]


def random(*shape: int, dtype: torch.dtype = HALF) -> torch.Tensor:
    return torch.randn(shape, device=DEVICE, dtype=dtype)


def copies() -> Iterator[dict[str, object]]:
    """Copies between host and GPU and inside the GPU; bytes counted once."""
    powers = range(12, 31, 2) if CUDA else range(12, 17, 2)
    for size in (1 << power for power in powers):
        far, near = (torch.zeros(size, dtype=torch.uint8, device=DEVICE) for _ in range(2))
        kinds: dict[str, _Work] = {
            "device to device": lambda near=near, far=far: far.copy_(near),
            "fill": lambda far=far: far.zero_(),
        }
        for name, pinned in (("pinned", True), ("pageable", False)) if CUDA else ():
            host = torch.zeros(size, dtype=torch.uint8, pin_memory=pinned)
            kinds |= {
                f"to device, {name}": lambda h=host, far=far: far.copy_(h, non_blocking=True),
                f"to host, {name}": lambda h=host, far=far: h.copy_(far, non_blocking=True),
            }
        for name, work in kinds.items():
            graph = name in ("device to device", "fill")
            yield row("copies", name, size, seconds([work], graph=graph))


def launches() -> Iterator[dict[str, object]]:
    """The smallest kernel, launched one by one, replayed from a graph, and only queued."""
    one = torch.zeros(1, device=DEVICE)
    yield row("launches", "eager", 0, seconds([lambda: one.add_(1)], graph=False))
    yield row("launches", "graph", 0, seconds([lambda: one.add_(1)]))
    if not CUDA:
        return
    a, b = random(128, 128), random(128, 128)
    out = torch.empty_like(a)
    yield row(
        "launches", "eager product", 0, seconds([lambda: torch.mm(a, b, out=out)], graph=False)
    )
    yield row("launches", "graph product", 0, seconds([lambda: torch.mm(a, b, out=out)]))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        one.add_(1)
    yield row("launches", "graph of one", 0, seconds([graph.replay], graph=False))
    times = []
    for _ in range(7):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(500):
            one.add_(1)
        times.append((time.perf_counter() - start) / 500)
    times.sort()
    spread = {"time": times[3], "repeats": 7, "calls": 500, "least": times[0], "most": times[-1]}
    yield row("launches", "host alone", 0, spread)


def swept() -> Iterator[dict[str, object]]:
    """Element-wise operators of a layer, forward; `size`: elements of their result."""
    x, y, weight = random(TOKENS, HIDDEN), random(TOKENS, HIDDEN), random(HIDDEN)
    gate, up = random(TOKENS, INNER), random(TOKENS, INNER)
    q = random(TOKENS, HEADS, SIZE)
    angle = random(TOKENS, SIZE // 2, dtype=torch.float32)
    cos, sin = angle.cos(), angle.sin()
    works: dict[str, tuple[_Work, torch.Tensor]] = {
        "add": (lambda: x + y, x),
        "norm, elementary": (lambda: eager_norm(x, weight), x),
        "norm, one operator": (lambda: functional.rms_norm(x, (HIDDEN,), weight), x),
        "layer norm": (lambda: functional.layer_norm(x, (HIDDEN,), weight, weight), x),
        "gated activation": (lambda: functional.silu(gate) * up, gate),
        "gelu": (lambda: functional.gelu(gate, approximate="tanh"), gate),
        "rotation": (lambda: rotate(q, cos, sin), q),
        "dropout": (lambda: functional.dropout(x, 0.1), x),
        "to fp32 and back": (lambda: x.float().to(HALF), x),
    }
    for name, (work, result) in works.items():
        yield row("swept", name, result.numel(), seconds([work]))
        if name in ("norm, elementary", "gated activation", "rotation", "add") and CUDA:
            fused = torch.compile(work)
            yield row("swept", f"{name}, compiled", result.numel(), seconds([fused]))


def loss(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(logits.float(), wanted)


def loss_pass(columns: int, *, compiled: bool) -> dict[str, float]:
    """Return the time of a loss and of its gradient, of 4,096 tokens."""
    rows = 4096 // SMALLER
    logits = random(rows, columns).requires_grad_()
    wanted = torch.randint(columns, (rows,), device=DEVICE)
    run = torch.compile(loss) if compiled else loss

    def both() -> None:
        logits.grad = None
        run(logits, wanted).backward()

    return seconds([both], graph=False)


def losses() -> Iterator[dict[str, object]]:
    """The loss of logits in 16 bits, forward and backward; `size`: logits."""
    for columns in (32_000, 50_304, 128_256, 151_936):
        for name in ("eager", "compiled") if CUDA else ("eager",):
            found = loss_pass(columns, compiled=name == "compiled")
            yield row("losses", name, 4096 // SMALLER * columns, found)


def update(name: str, options: dict[str, bool]) -> dict[str, object]:
    """Return a row of AdamW on half a billion parameters, 32 matrices."""
    sizes = [(4096 // SMALLER, 4096)] * 32
    weights = [torch.nn.Parameter(random(*one, dtype=torch.float32)) for one in sizes]
    for one in weights:
        one.grad = torch.randn_like(one)
    count, before = sum(one.numel() for one in weights), allocated()
    if name == "clip":
        clip = torch.nn.utils.clip_grad_norm_
        return row("updates", name, count, seconds([lambda: clip(weights, 1e9)], graph=False))
    optimizer = torch.optim.AdamW(weights, lr=1e-6, **options)
    optimizer.step()
    states = allocated() - before
    if CUDA:
        torch.cuda.reset_peak_memory_stats()
    held = allocated()
    found = seconds([optimizer.step], graph=False)
    peak = torch.cuda.max_memory_allocated() - held if CUDA else 0
    return row("updates", name, count, found) | {"states": states, "peak": peak}


def updates() -> Iterator[dict[str, object]]:
    """Adam's step on parameters in fp32, and clipping; `size`: parameters; `peak`: bytes added."""
    yield update("fused", {"fused": True})
    yield update("foreach", {"foreach": True})
    yield update("loop", {"foreach": False})
    yield update("clip", {})


def allocated() -> int:
    return torch.cuda.memory_allocated() if CUDA else 0


def row(kind: str, name: str, size: int, found: dict[str, float]) -> dict[str, object]:
    return {"class": kind, "name": name, "size": size, "states": 0, "peak": 0} | found


def rows() -> Iterator[dict[str, object]]:
    parts = (launches, copies, swept, losses, updates)
    for part in [one for one in parts if one.__name__ in sys.argv] or parts:
        yield from part()
        if CUDA:
            torch.cuda.empty_cache()


if __name__ == "__main__":
    write("streams", rows())
