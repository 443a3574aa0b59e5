"""A trace of three steps of a small Llama, and what the profiler itself adds up over it.

python -m tests.validation.device.trace FOLDER
"""

import json
import sys
from pathlib import Path

import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from tests.validation.device.llama import Llama, Size
from tests.validation.device.timing import CUDA, DEVICE, machine

STEPS = 3
SIZE = Size(1024, 2816, 16, 16, 2, 8192) if CUDA else Size(64, 128, 4, 4, 2, 256)


def main(folder: Path) -> None:
    """Record, write the trace beside its sums."""
    with torch.device(DEVICE):
        model = Llama(SIZE, 1024, "none", DEVICE).to(torch.bfloat16)
    adam = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=CUDA)
    batch = torch.randint(SIZE.vocab, (4, 1025), pin_memory=CUDA)

    def step() -> None:
        tokens = batch.to(DEVICE, non_blocking=True)
        with record_function("forward"):
            logits = model(tokens[:, :-1]).flatten(0, 1).float()
            loss = functional.cross_entropy(logits, tokens[:, 1:].flatten())
        with record_function("backward"):
            loss.backward()
        with record_function("optimizer"):
            adam.step()
            adam.zero_grad()

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if CUDA else [])
    with profile(activities=activities, schedule=schedule(wait=2, warmup=2, active=STEPS)) as seen:
        for _ in range(4 + STEPS):
            step()
            seen.step()
    seen.export_chrome_trace(str(folder / "steps.json.gz"))
    kernels = {
        row.key: [row.count, round(row.self_device_time_total, 3)]
        for row in seen.key_averages()
        if str(row.device_type).endswith("CUDA") and not row.is_user_annotation
    }
    found = {"machine": machine(), "steps": STEPS, "kernels": kernels}
    (folder / "steps_sums.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print("trace:", (folder / "steps.json.gz").stat().st_size // 1024, "KiB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
