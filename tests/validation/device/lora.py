"""Whole steps that train adapters beside frozen weights: python -m ... device.lora FOLDER.

Weights in bf16, adapters of every linear layer of the blocks and their Adam in fp32, under FSDP2.
"together": FSDP1, base and adapters in one unit, whose tensors need one type: all in bf16.
"""

from collections.abc import Iterator
from functools import partial

import torch
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecisionPolicy, fully_shard

from tests.validation.device.llama import SIZES, Llama, Size
from tests.validation.device.steps import alone, step_of, tried
from tests.validation.device.timing import CUDA, DEVICE

RANK, SCALE, LENGTH = 16, 2.0, 4096 if CUDA else 64
LINEAR = ("q", "k", "v", "out", "gate", "up", "down")
MODELS = ("llama-3.2-1b", "llama-3.2-3b", "llama-3-8b")
_Case = tuple[str, int, bool, str, str]


def cases() -> Iterator[_Case]:
    """Yield model, sequences, compiled, recomputation, what is trained."""
    yield "llama-3.2-1b", 2, False, "none", "full"
    for name in MODELS:
        for batch in (1, 2):
            for mode in ("none", "full"):
                yield name, batch, False, mode, "lora"
    for name in MODELS:
        yield name, 1, True, "none", "lora"
    yield "llama-3-8b", 2, True, "full", "lora"
    yield "llama-3-8b", 1, False, "full", "full"  # for 139 GiB
    # Last, since FSDP1 frees nothing; it refuses tied embeddings here.
    yield "llama-3-8b", 1, False, "full", "together"


class Adapted(nn.Module):
    """A frozen linear layer with two thin ones beside it (Hu et al. 2021), without dropout.

    The second is random from the start: products of zeros are faster than those of training.
    """

    def __init__(self, frozen: nn.Linear, kept: torch.dtype) -> None:
        super().__init__()
        thin = partial(nn.Linear, bias=False, dtype=kept, device=DEVICE)
        self.frozen = frozen
        self.first = thin(frozen.in_features, RANK)
        self.second = thin(RANK, frozen.out_features)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.frozen(x) + self.second(self.first(x)) * SCALE


def adapted(model: Llama, kept: torch.dtype) -> None:
    """Freeze all weights in bf16 and put adapters beside those of the blocks."""
    model.bfloat16().requires_grad_(False)
    for again in model.layers:
        for name in LINEAR:
            layer = again.layer
            setattr(layer, name, Adapted(getattr(layer, name), kept))


def built(case: _Case) -> nn.Module:
    """Return a model, wrapped by the block."""
    name, _, compiled, mode, trained = case
    size = SIZES[name] if CUDA else Size(128, 256, 4, 2, 2, 1000)
    with torch.device(DEVICE):
        model = Llama(size, LENGTH, mode, DEVICE)
    if trained == "together":
        adapted(model, torch.bfloat16)
        join = partial(FullyShardedDataParallel, use_orig_params=True)
        for at, layer in enumerate(model.layers):
            model.layers[at] = join(layer)
        return join(model)
    if trained == "lora":
        adapted(model, torch.float32)
    shard = partial(fully_shard, mp_policy=MixedPrecisionPolicy(torch.bfloat16, torch.float32))
    for layer in model.layers:
        if compiled and CUDA:
            layer.compile()
        shard(layer)
    shard(model)
    return model


def rows() -> Iterator[dict[str, object]]:
    names = ("model", "batch", "compiled", "recompute", "trained")
    for case in cases():
        facts = dict(zip(names, case, strict=True)) | {"compiled": int(case[2]), "length": LENGTH}
        yield from tried(facts, lambda one=case: step_of(one[1], LENGTH, one[2], built(one)))


if __name__ == "__main__":
    alone("lora", rows())
