"""Some of the products again, after seconds of them: clocks under the limit of power.

python -m tests.validation.device.sustained FOLDER
"""

from collections.abc import Iterator

from tests.validation.device.products import half, quarter
from tests.validation.device.timing import CUDA, SMALLER, write

WARM = 1.5 if CUDA else 0.0
# Those that the script of "Calibrate to your cluster" times, but the smallest.
SHAPES = (
    (8192, 8192, 8192), (4096, 4096, 4096), (2048, 2048, 2048), (8192, 28_672, 4096),
    (4096, 14_336, 4096), (4096, 4096, 14_336), (8192, 1024, 8192), (2048, 10_240, 8192),
    (16_384, 4096, 1024), (4096, 4096, 512), (16_384, 8192, 2048),
)  # fmt: skip


def rows() -> Iterator[dict[str, object]]:
    for shape in SHAPES:
        m, n, k = (side // SMALLER for side in shape)
        facts: dict[str, object] = {"rows": m, "columns": n, "inner": k}
        for warm, name in ((0.06, "burst"), (WARM, "sustained")):
            yield facts | {"precision": "bf16", "load": name} | half("forward", m, n, k, warm)
            if CUDA:
                yield facts | {"precision": "fp8", "load": name} | quarter(m, n, k, True, warm)


if __name__ == "__main__":
    write("sustained", rows())
