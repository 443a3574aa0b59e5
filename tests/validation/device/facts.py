"""The machine of the other tables, and its clocks under a long product: ... device.facts FOLDER."""

import json
import subprocess
import sys
import time
from pathlib import Path

import torch

from tests.validation.device.timing import CUDA, DEVICE, SMALLER, machine

SIDE, WHILE = 8192 // SMALLER, 12.0 if CUDA else 0.5
_SEEN = "clocks.sm,clocks.mem,power.draw,temperature.gpu"


def clocks() -> list[float]:
    """Return the clocks in MHz, the power in W and the temperature that are read now."""
    if not CUDA:
        return []
    command = ["nvidia-smi", f"--query-gpu={_SEEN}", "--format=csv,noheader,nounits"]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return [float(one) for one in told.split(",")]


def long_product() -> list[list[float]]:
    """Return seconds since the start, TFLOP/s, and clocks of one product, again and again."""
    a, b = (torch.randn(SIDE, SIDE, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    out, found, start = torch.empty_like(a), [], time.perf_counter()
    while (now := time.perf_counter() - start) < WHILE:
        begin = time.perf_counter()
        for _ in range(400 if CUDA else 1):
            torch.mm(a, b, out=out)
        seen = clocks()  # while the queue is full
        if CUDA:
            torch.cuda.synchronize()
        count = 400 if CUDA else 1
        rate = 2e-12 * count * SIDE**3 / (time.perf_counter() - begin)
        found.append([round(now, 2), round(rate, 1), *seen])
    return found


if __name__ == "__main__":
    facts = machine() | {"idle": clocks(), "long product": long_product()}
    text = json.dumps(facts, indent=1) + "\n"
    (Path(sys.argv[1]) / "machine.json").write_text(text, encoding="utf-8")
    print(text[:600])
