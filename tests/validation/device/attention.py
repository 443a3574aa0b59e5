"""Fused attention, forward and backward, by library and shape: ... device.attention FOLDER."""

from collections.abc import Iterator

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from tests.validation.device.timing import CUDA, DEVICE, SMALLER, seconds, write

KERNELS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
LENGTHS = (512, 1024, 2048, 4096, 8192, 16_384)
TOKENS = 16_384
# Batch, heads, heads of keys and values, length, size of a head, of values, causal.
_Case = tuple[str, int, int, int, int, int, int, bool]


def cases() -> Iterator[_Case]:
    for length in LENGTHS:
        batch = TOKENS // length
        yield "length", batch, 32, 32, length, 128, 128, True
        yield "not causal", batch, 32, 32, length, 128, 128, False
        yield "grouped queries", batch, 32, 8, length, 128, 128, True
        yield "heads of 64", batch, 32, 32, length, 64, 64, True
    for heads in (1, 2, 4, 8, 16):
        for length in (4096, 8192):
            yield "few heads", 1, heads, heads, length, 128, 128, True
    for length in (32_768, 65_536):
        yield "long", 1, 8, 2, length, 128, 128, True
    for length in (4096, 16_384):
        yield "latent", 1, 32, 32, length, 192, 128, True


def timed(case: _Case, backend: SDPBackend) -> tuple[dict[str, float], dict[str, float]]:
    """Return the forward and the backward time."""
    _, batch, heads, groups, length, size, value, causal = case
    sizes = ((heads, size), (groups, size), (groups, value))
    q, k, v = (
        torch.randn(batch, h, length, d, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
        for h, d in sizes
    )

    def forward() -> torch.Tensor:
        return scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads > groups)

    with sdpa_kernel(backend):
        out = forward()
        with torch.no_grad():
            there = seconds([forward])
        grad = torch.randn_like(out)
        back = seconds(
            [lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True)], graph=False
        )
    return there, back


def rows() -> Iterator[dict[str, object]]:
    names = ("class", "batch", "heads", "groups", "length", "head_size", "value_size", "causal")
    for case in cases():
        kind, batch, heads, groups, length, *rest = case
        case = (kind, batch, heads, groups, length // SMALLER, *rest)  # type: ignore[assignment]
        for kernel, backend in KERNELS.items() if CUDA else [("flash", KERNELS["flash"])]:
            facts = {"kernel": kernel} | dict(zip(names, case, strict=True))
            try:
                there, back = timed(case, backend)
            except RuntimeError as error:
                print(f"{facts}: {str(error)[:200]}", flush=True)
                continue
            yield facts | {"causal": int(case[-1])} | {"pass": "forward"} | there
            yield facts | {"causal": int(case[-1])} | {"pass": "backward"} | back


if __name__ == "__main__":
    write("attention", rows())
