"""A Llama, and a GPT layer without FlashAttention, with every kept tensor in sight."""

from dataclasses import dataclass
from functools import partial

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

ATTENTION = ("flash_attention", "cudnn_attention", "efficient_attention")


@dataclass(frozen=True)
class Size:
    hidden: int
    inner: int
    heads: int
    groups: int
    layers: int = 1
    vocab: int = 128_256
    tied: bool = True  # the output layer reuses the embedding

    @property
    def head(self) -> int:
        return self.hidden // self.heads


# As in engine/catalog/models.py.
SIZES = {
    "llama-3.2-1b": Size(2048, 8192, 32, 8, 16),
    "llama-3.2-3b": Size(3072, 8192, 24, 8, 28),
    "llama-2-7b": Size(4096, 11_008, 32, 32, 32, 32_000),
    "llama-3-8b": Size(4096, 14_336, 32, 8, 32, tied=False),
    "llama-3-70b": Size(8192, 28_672, 64, 8, 80),
    "gpt-3-5b": Size(4096, 16_384, 32, 32, 24, 51_200),
}


def eager_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """RMSNorm in elementary operators, as the code of Llama has it."""
    wide = x.float()
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
    return wide.type_as(x) * weight


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotation by position of [..., tokens, heads, head size], in fp32."""
    cos, sin = cos[:, None], sin[:, None]
    first, second = x.float().chunk(2, dim=-1)
    turned = (first * cos - second * sin, first * sin + second * cos)
    return torch.cat(turned, dim=-1).type_as(x)


def angles(size: Size, length: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosine and sine of every position."""
    powers = torch.arange(0, size.head, 2, device=device) / size.head
    angle = torch.outer(torch.arange(length, device=device), 500_000.0**-powers)
    return angle.cos(), angle.sin()


class Layer(nn.Module):
    """A layer of a Llama: separate projections, as torchtitan and FSDP run it."""

    def __init__(self, size: Size, fused_norm: bool = False) -> None:
        super().__init__()
        self.size, self.fused_norm = size, fused_norm
        keys = size.groups * size.head
        linear = partial(nn.Linear, bias=False)
        self.q, self.out = linear(size.hidden, size.hidden), linear(size.hidden, size.hidden)
        self.k, self.v = linear(size.hidden, keys), linear(size.hidden, keys)
        self.gate, self.up = (linear(size.hidden, size.inner) for _ in range(2))
        self.down = linear(size.inner, size.hidden)
        self.norms = nn.ParameterList([nn.Parameter(torch.ones(size.hidden)) for _ in range(2)])

    def norm(self, x: torch.Tensor, at: int) -> torch.Tensor:
        if self.fused_norm:
            return functional.rms_norm(x, (self.size.hidden,), self.norms[at])
        return eager_norm(x, self.norms[at])

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        size, y = self.size, self.norm(x, 0)
        q, k, v = (part(y).unflatten(-1, (-1, size.head)) for part in (self.q, self.k, self.v))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        y = functional.scaled_dot_product_attention(
            *(one.transpose(1, 2) for one in (q, k, v)),
            is_causal=True,
            enable_gqa=size.heads > size.groups,
        )
        x = x + self.out(y.transpose(1, 2).flatten(2))
        y = self.norm(x, 1)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class GptLayer(nn.Module):
    """A layer of a GPT with dropout and with scores in memory, as Korthikanti et al. count it."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.norms = nn.ModuleList([nn.LayerNorm(size.hidden) for _ in range(2)])
        self.joined, self.out = (nn.Linear(size.hidden, n * size.hidden) for n in (3, 1))
        self.up = nn.Linear(size.hidden, size.inner)
        self.down = nn.Linear(size.inner, size.hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length, batch, size = x.shape[0], x.shape[1], self.size
        joined = self.joined(self.norms[0](x)).view(length, batch * size.heads, 3 * size.head)
        q, k, v = joined.transpose(0, 1).chunk(3, dim=-1)
        empty = q.new_empty(q.shape[0], length, length)
        scores = torch.baddbmm(empty, q, k.transpose(1, 2), beta=0.0, alpha=size.head**-0.5)
        shares = functional.dropout(scores.softmax(-1), 0.1)
        y = (shares @ v).transpose(0, 1).reshape(x.shape)
        x = x + functional.dropout(self.out(y), 0.1)
        y = self.down(functional.gelu(self.up(self.norms[1](x)), approximate="tanh"))
        return x + functional.dropout(y, 0.1)


def _every_second() -> object:
    """Keep the attention's result and every second matrix product, as torchtitan 0.2 does."""
    count = {False: 0, True: 0}

    def policy(ctx: object, op: object, *args: object, **more: object) -> CheckpointPolicy:
        again = bool(getattr(ctx, "is_recompute", False))
        save = any(name in str(op) for name in ATTENTION)
        if op == torch.ops.aten.mm.default:
            count[again] += 1
            save = count[again] % 2 == 1
        return CheckpointPolicy.MUST_SAVE if save else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)  # type: ignore[arg-type]


class Recomputed(nn.Module):
    """A layer under "none", "selective" or "full" recomputation."""

    def __init__(self, layer: nn.Module, mode: str) -> None:
        super().__init__()
        self.layer, self.mode = layer, mode

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        if self.mode == "none":
            return self.layer(*inputs)
        options = {"context_fn": _every_second} if self.mode == "selective" else {}
        return checkpoint(self.layer, *inputs, use_reentrant=False, **options)


class Llama(nn.Module):
    """A whole model."""

    def __init__(self, size: Size, length: int, mode: str, device: str) -> None:
        super().__init__()
        self.embedding = nn.Embedding(size.vocab, size.hidden)
        self.layers = nn.ModuleList([Recomputed(Layer(size), mode) for _ in range(size.layers)])
        self.norm = nn.Parameter(torch.ones(size.hidden))
        self.output = nn.Linear(size.hidden, size.vocab, bias=False)
        if size.tied:
            self.output.weight = self.embedding.weight
        self.turn = angles(size, length, device)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, *self.turn)
        return self.output(eager_norm(x, self.norm))
