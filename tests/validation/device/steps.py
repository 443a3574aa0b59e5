"""Whole training steps on one GPU under FSDP2: time, memory allocated, reserved and of the process.

python -m tests.validation.device.steps FOLDER
"""

import gc
import os
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from tests.validation.device.llama import SIZES, Llama, Size
from tests.validation.device.timing import CUDA, DEVICE, write

WARM, COUNTED = (4, 8) if CUDA else (1, 2)
_Case = tuple[str, int, int, bool, str]


def cases() -> Iterator[_Case]:
    """Yield model, sequences, length, compiled, recomputation."""
    for compiled in (True, False):
        for mode in ("none", "selective", "full"):
            yield "llama-3.2-1b", 2, 4096, compiled, mode
    yield "llama-3.2-1b", 1, 4096, True, "none"
    yield "llama-3.2-1b", 4, 4096, True, "none"
    yield "llama-3.2-1b", 1, 8192, True, "none"
    yield "llama-3.2-3b", 1, 4096, True, "none"
    yield "llama-3.2-3b", 2, 4096, True, "full"
    yield "llama-3.2-3b", 2, 4096, False, "full"


def built(case: _Case) -> Llama:
    """Return a model in single precision that multiplies in bf16, in the order of torchtitan."""
    name, _, length, compiled, mode = case
    size = SIZES[name] if CUDA else Size(128, 256, 4, 2, 2, 1000)
    with torch.device(DEVICE):
        model = Llama(size, length, mode, DEVICE)
    shard = partial(fully_shard, mp_policy=MixedPrecisionPolicy(torch.bfloat16, torch.float32))
    for layer in model.layers:
        if compiled and CUDA:
            layer.compile()
        shard(layer)
    shard(model)
    return model


def loss_of(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(logits.flatten(0, 1).float(), wanted.flatten())


def step_of(batch: int, length: int, compiled: bool, model: nn.Module) -> Callable[[], None]:
    """Return one step: forward, backward, clipping, AdamW, all gradients freed."""
    adam = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    loss = torch.compile(loss_of) if compiled and CUDA else loss_of
    vocab = model.embedding.num_embeddings
    tokens = torch.randint(vocab, (batch, length + 1), device=DEVICE)

    def step() -> None:
        loss(model(tokens[:, :-1]), tokens[:, 1:]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        adam.zero_grad()

    return step


def measured(step: Callable[[], None]) -> dict[str, object]:
    """Return median and spread of the steps, and the three numbers of memory, once it is warm."""
    for _ in range(WARM):
        step()
    if CUDA:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(COUNTED):
        start = time.perf_counter()
        step()
        if CUDA:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    found: dict[str, object] = {"allocated": 0, "reserved": 0, "used": 0}
    if CUDA:
        free, total = torch.cuda.mem_get_info()
        found = {
            "allocated": torch.cuda.max_memory_allocated(),
            "reserved": torch.cuda.max_memory_reserved(),
            "used": total - free,
        }
    spread = {"repeats": COUNTED, "least": min(times), "most": max(times)}
    return {"time": statistics.median(times)} | spread | found


def tried(
    facts: dict[str, object], made: Callable[[], Callable[[], None]]
) -> Iterator[dict[str, object]]:
    """Yield the row of one case, if it can be run, and leave nothing of it on the GPU."""
    try:
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            yield facts | measured(made())
    except (RuntimeError, ValueError, AssertionError) as error:
        print(f"{facts}: {str(error)[:300]}", flush=True)
    torch.compiler.reset()
    gc.collect()  # else tensors of this case can stay for the next
    if CUDA:
        torch.cuda.empty_cache()


def alone(name: str, rows: Iterator[dict[str, object]]) -> None:
    """Write a table of rows that are measured in a group of one process."""
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29501"}
    dist.init_process_group("nccl" if CUDA else "gloo", rank=0, world_size=1)
    write(name, rows)
    dist.destroy_process_group()


def rows() -> Iterator[dict[str, object]]:
    names = ("model", "batch", "length", "compiled", "recompute")
    for case in cases():
        facts = dict(zip(names, case, strict=True)) | {"compiled": int(case[3])}
        small = case if CUDA else (*case[:2], 64, *case[3:])
        yield from tried(facts, lambda one=small: step_of(*one[1:4], built(one)))


if __name__ == "__main__":
    alone("steps", rows())
