"""Time and memory of a layer, forward and backward, with and without recomputation.

python -m tests.validation.device.layers FOLDER [CASES TO SKIP]
"""

import sys
from collections.abc import Iterator
from itertools import islice

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from tests.validation.device.llama import SIZES, GptLayer, Layer, Recomputed, Size, angles
from tests.validation.device.timing import CUDA, DEVICE, SMALLER, seconds, write

HALF = torch.bfloat16
FEW, MORE = 2, 4  # layers; what one keeps is the difference between both, over two
MODES = ("none", "selective", "full")


def cases() -> Iterator[tuple[str, int, int, str, str, str]]:
    """Yield model, micro-batch, length, style, recomputation, kernel of the attention."""
    for style in ("eager", "compiled"):
        for mode in MODES:
            yield "llama-3-8b", 1, 8192, style, mode, "flash"
    yield "llama-3-8b", 1, 8192, "one norm", "none", "flash"
    for style in ("eager", "compiled"):
        yield "llama-3-8b", 1, 8192, style, "none", "cudnn"
        yield "llama-2-7b", 1, 4096, style, "none", "cudnn"
        yield "llama-3-70b", 1, 4096, style, "none", "cudnn"
    yield "llama-3-8b", 1, 2048, "compiled", "none", "cudnn"
    yield "llama-3-8b", 4, 2048, "compiled", "none", "cudnn"
    for batch in (1, 4):
        for mode in ("none", "full"):
            yield "gpt-3-5b", batch, 2048, "eager", mode, "unfused"


def held() -> int:
    return torch.cuda.memory_allocated() if CUDA else 0


class Stack:
    """Some layers, their input, and what their passes keep and take."""

    def __init__(self, case: tuple[str, int, int, str, str, str]) -> None:
        model, batch, length, style, mode, _ = case
        self.size = _smaller(SIZES[model])
        gpt = model.startswith("gpt")
        made: list[nn.Module] = []
        for _ in range(MORE):
            one = GptLayer(self.size) if gpt else Layer(self.size, style == "one norm")
            layer = Recomputed(one, mode).to(DEVICE, HALF)
            if style == "compiled" and CUDA:
                layer.compile()
            made.append(layer)
        self.layers = made
        length //= SMALLER
        shape = (length, batch) if gpt else (batch, length)
        self.x = torch.randn(*shape, self.size.hidden, device=DEVICE, dtype=HALF)
        self.x.requires_grad_()
        self.turn = () if gpt else angles(self.size, length, DEVICE)
        for layer in made:
            for weight in layer.parameters():
                weight.grad = torch.zeros_like(weight)

    def forward(self, count: int = MORE) -> torch.Tensor:
        x = self.x
        for layer in self.layers[:count]:
            x = layer(x, *self.turn)
        return x

    def kept(self, count: int) -> int:
        before = held()
        out = self.forward(count)
        return held() - before if out is not None else 0

    def peak(self, count: int) -> int:
        before = held()
        if CUDA:
            torch.cuda.reset_peak_memory_stats()
        self.both(count)
        return torch.cuda.max_memory_allocated() - before if CUDA else 0

    def both(self, count: int = MORE) -> None:
        self.x.grad = None
        self.forward(count).sum().backward()


def _smaller(size: Size) -> Size:
    if CUDA:
        return size
    heads, groups = (max(1, count // SMALLER) for count in (size.heads, size.groups))
    return Size(heads * size.head, size.inner // SMALLER, heads, groups, 2, 1000)


def measured(case: tuple[str, int, int, str, str, str]) -> Iterator[dict[str, object]]:
    """Yield the forward and the whole pass of one layer, and its bytes."""
    stack = Stack(case)
    for _ in range(3):
        stack.both()
    sizes = [stack.kept(FEW), stack.kept(MORE), stack.peak(MORE)]
    facts: dict[str, object] = {"kept": (sizes[1] - sizes[0]) // (MORE - FEW), "peak": sizes[2]}
    for name, work in (("forward", stack.forward), ("both", stack.both)):
        found = seconds([work], graph=False)
        shares = {key: found[key] / MORE for key in ("time", "least", "most")}
        yield {"pass": name} | facts | found | shares


def rows() -> Iterator[dict[str, object]]:
    names = ("model", "batch", "length", "style", "recompute", "kernel")
    backends = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
    skip = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for case in islice(cases(), skip, None):
        facts = dict(zip(names, case, strict=True))
        try:
            with sdpa_kernel(backends.get(case[-1] if CUDA else "flash", SDPBackend.MATH)):
                for row in measured(case):
                    yield facts | row
        except RuntimeError as error:
            print(f"{facts}: {str(error)[:300]}", flush=True)
        torch.compiler.reset()
        if CUDA:
            torch.cuda.empty_cache()


if __name__ == "__main__":
    write("layers", rows())
