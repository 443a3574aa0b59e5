"""Matrix products by shape, in bf16 and fp8: python -m tests.validation.device.products FOLDER.

Rows are [rows, inner] x [inner, columns], in the layout that training has: forward with the
weight transposed, the gradient of the input with the weight as it is, that of the weight with the
gradient of the result transposed.
"""

from collections.abc import Iterator

import torch

from tests.validation.device.timing import CUDA, DEVICE, SMALLER, WARM, seconds, sets, write

HALF = torch.bfloat16
SIDES = (512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384)
SHAPES = {
    "square": [(side, side, side) for side in SIDES],
    "few rows": [(m, n, n) for n in (4096, 8192) for m in (16, 64, 128, 256, 512, 1024, 2048)],
    "short inner sum": [(8192, 8192, k) for k in (64, 128, 256, 512, 1024, 2048)],
    "one more row of tiles": [(m, 4096, 4096) for m in range(256, 6145, 256)],
    "vocabulary": [(4096, n, 4096) for n in (50_257, 50_304, 128_256)],
}
# Columns and inner length of the products of one layer, as Megatron joins them.
LAYERS = {
    "Llama 2 7B": {
        "query, key, value": (12_288, 4096), "output": (4096, 4096),
        "gate and up": (22_016, 4096), "down": (4096, 11_008),
    },
    "Llama 3 70B": {
        "query, key, value": (10_240, 8192), "output": (8192, 8192),
        "gate and up": (57_344, 8192), "down": (8192, 28_672),
    },
}  # fmt: skip
TENSOR, TOKENS = (1, 4, 8), (2048, 8192)
# Which of both sizes of a weight tensor parallelism divides.
BY_COLUMNS = ("query, key, value", "gate and up")


def shapes() -> Iterator[tuple[str, str, tuple[int, int, int], bool]]:
    """Yield class, name, (rows, columns, inner), and whether both gradients are timed as well."""
    for kind, found in SHAPES.items():
        for shape in found:
            yield kind, "", shape, False
    for model, weights in LAYERS.items():
        for split in TENSOR:
            for tokens in TOKENS:
                for name, (columns, inner) in weights.items():
                    n = columns // split if name in BY_COLUMNS else columns
                    k = inner if name in BY_COLUMNS else inner // split
                    yield model, f"{name}, TP {split}", (tokens, n, k), True


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, device=DEVICE, dtype=HALF)


def half(kind: str, m: int, n: int, k: int, warm: float = WARM) -> dict[str, float]:
    """Time a product in bf16 in the layout of its pass."""
    works = []
    for _ in range(sets(2.0 * (m * k + k * n + m * n))):
        a = random(k, m).t() if kind == "weight gradient" else random(m, k)
        b = random(n, k).t() if kind == "forward" else random(k, n)
        out = torch.empty(m, n, device=DEVICE, dtype=HALF)
        works.append(lambda a=a, b=b, out=out: torch.mm(a, b, out=out))
    return seconds(works, warm=warm)


def quarter(m: int, n: int, k: int, fast: bool, warm: float = WARM) -> dict[str, float]:
    """Time a product in fp8 with one scale per tensor."""
    one = torch.ones((), device=DEVICE)
    works = []
    for _ in range(sets(m * k + k * n + 2.0 * m * n)):
        a, b = (random(*s).to(torch.float8_e4m3fn) for s in ((m, k), (n, k)))
        works.append(
            lambda a=a, b=b: torch._scaled_mm(
                a, b.t(), scale_a=one, scale_b=one, out_dtype=HALF, use_fast_accum=fast
            )
        )
    return seconds(works, warm=warm)


def rows() -> Iterator[dict[str, object]]:
    seen = set()
    for kind, name, shape, whole in shapes():
        m, n, k = (-(-side // SMALLER) for side in shape)
        passes = {"forward": (m, n, k)}
        if whole:
            passes |= {"input gradient": (m, k, n), "weight gradient": (n, k, m)}
        for each, sizes in passes.items():
            if ("bf16", each, sizes) in seen:
                continue
            seen.add(("bf16", each, sizes))
            facts = {"class": kind, "name": name, "pass": each}
            facts |= dict(zip(("rows", "columns", "inner"), sizes, strict=True))
            yield facts | {"precision": "bf16"} | half(each, *sizes)
            if kind == "one more row of tiles" or any(side % 16 for side in sizes):
                continue
            if CUDA and each != "input gradient":
                yield facts | {"precision": "fp8"} | quarter(*sizes, True)
                if kind == "square":
                    slow = quarter(*sizes, False)
                    yield facts | {"precision": "fp8, exact sums"} | slow


if __name__ == "__main__":
    write("products", rows())
