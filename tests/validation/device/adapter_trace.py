"""The tensors of an eager step of `lora.py` in their order, laid into PyTorch's allocator.

Only storages are followed: each operator makes the tensors that PyTorch's makes, and keeps for the
backward pass what autograd keeps. Under FSDP2 on one rank (torch/distributed/fsdp/_fully_shard), a
unit is copied for its pass and freed behind it; sharding it copies every parameter once.
"""

from engine.catalog.models import Model, head_size
from tests.validation.device.caching_allocator import Allocator
from tests.validation.device.storages import HALF, SINGLE, Tape, Tensor

RANK, STEPS = 16, 3


class Bench(Tape):
    """A model on one GPU that trains adapters beside weights in 16 bits, eager.

    `recomputed`: every layer is; `cast`: weights were made in single precision on this GPU.
    """

    def __init__(self, model: Model, tokens: int, *, recomputed: bool, cast: bool) -> None:
        super().__init__(Allocator())
        self.model, self.tokens, self.recomputed = model, tokens, recomputed
        hidden, inner = model.hidden_size, model.ffn_hidden_size
        keys = model.num_key_value_heads * head_size(model)
        self.sizes = {"q": (hidden, hidden), "out": (hidden, hidden), "k": (hidden, keys),
                      "v": (hidden, keys), "gate": (hidden, inner), "up": (hidden, inner),
                      "down": (inner, hidden)}  # fmt: skip
        self.units = self._built(SINGLE if cast else HALF)
        for unit in self.units:  # fully_shard
            old, unit[:] = unit[:], [self.new(one.count, one.width) for one in unit]
            del old
        self.moments: list[Tensor] = []

    def _built(self, width: int) -> list[list[Tensor]]:
        """Make the weights, cast them in the order of `Module._apply`, put adapters beside them."""
        model = self.model
        hidden, matrix = model.hidden_size, model.vocab_size * model.hidden_size
        counts = [*(a * b for a, b in self.sizes.values()), hidden, hidden]
        first = [self.new(matrix, width)]
        layers = [[self.new(one, width) for one in counts] for _ in range(model.num_layers)]
        norm, last = [self.new(hidden, width)], [self.new(matrix, width)]
        if model.tied_embeddings:
            last.clear()
        if width == SINGLE:
            for unit in (first, *layers, last, norm):
                for at, one in enumerate(unit):
                    unit[at] = self.new(one.count)
                    del one
        for layer in layers:
            for a, b in self.sizes.values():
                layer += [self.new(RANK * a, SINGLE), self.new(RANK * b, SINGLE)]
        return [*layers, [*first, *norm, *last]]

    def gathered(self, at: int) -> list[Tensor]:
        """Return a unit as its layers read it; -1 is the outermost."""
        return [self.new(one.count) for one in self.units[at]]

    def norm(self, x: Tensor) -> Tensor:
        """RMSNorm in elementary operators."""
        n, rows = x.count, self.tokens

        def back() -> Tensor:
            parts = [self.new(n, SINGLE), self.new(n, SINGLE), self.new(rows, SINGLE)]
            parts.append(self.new(n, SINGLE))
            del parts[1]
            return self.new(n, SINGLE)

        wide = self.cast(x, SINGLE)
        square, mean = self.new(n, SINGLE), self.new(rows, SINGLE)
        del square
        root = self.new(rows, SINGLE)
        del mean
        y = self.made(n, SINGLE, [wide], back, [wide, root])
        del wide, root
        y = self.cast(y, HALF)
        return self.made(n, HALF, [y], lambda: self.new(n))

    def adapted(self, x: Tensor, name: str) -> Tensor:
        """A frozen layer and its adapter, whose first matrix reads x in the backward pass too."""
        inner, outer = (self.tokens * one for one in self.sizes[name])
        thin = self.tokens * RANK
        frozen = self.made(outer, HALF, [x], lambda: self.new(inner))
        low = self.made(thin, HALF, [x], lambda: self.new(inner), [x], trained=True)
        high = self.made(outer, HALF, [low], lambda: self.new(thin), [low], trained=True)
        del low
        scaled = self.made(outer, HALF, [high], lambda: self.new(outer))
        del high
        return self.added(frozen, scaled)

    def rotated(self, x: Tensor) -> Tensor:
        n = x.count

        def back() -> Tensor:
            parts = [self.new(n // 2, SINGLE) for _ in range(4)]
            parts += [self.new(n, SINGLE), self.new(n, SINGLE)]
            return self.new(n, SINGLE)

        wide = self.cast(x, SINGLE)
        halves = []
        for _ in range(2):
            terms = [self.new(n // 2, SINGLE), self.new(n // 2, SINGLE)]
            halves.append(self.new(n // 2, SINGLE))
            del terms
        joined = self.made(n, SINGLE, [wide], back)
        del halves
        return self.cast(joined, HALF)

    def attention(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """FlashAttention, whose gradients of keys and values are first those of every head."""
        wide, narrow, sums = q.count, k.count, self.tokens * self.model.num_attention_heads

        def back() -> list[Tensor]:
            query, total = self.new(wide), [self.new(wide, SINGLE), self.new(sums, SINGLE)]
            heads = [self.new(wide), self.new(wide)]
            found = [query, self.new(narrow), self.new(narrow)]
            del total, heads
            return found

        result, normalizer = self.made(wide, HALF, [q, k, v], back), self.new(sums, SINGLE)
        self.keep(result, [q, k, v, result, normalizer])
        return result

    def layer(self, x: Tensor) -> Tensor:
        y = self.norm(x)
        q, k, v = (self.adapted(y, name) for name in "qkv")
        del y
        q, k = self.rotated(q), self.rotated(k)
        y = self.attention(q, k, v)
        del q, k, v
        x = self.added(x, self.adapted(y, "out"))
        y = self.norm(x)
        gate = self.adapted(y, "gate")
        n = gate.count
        smooth = self.made(n, HALF, [gate], lambda: self.new(n), [gate])
        del gate
        up = self.adapted(y, "up")
        both = self.made(n, HALF, [smooth, up], lambda: [self.new(n), self.new(n)], [smooth, up])
        del smooth, up
        return self.added(x, self.adapted(both, "down"))

    def step(self) -> None:
        """One step: forward, loss, backward, and what Adam keeps from the first one on."""
        model = self.model
        root = self.gathered(-1)
        x = self.new(self.tokens * model.hidden_size)
        kept: list[tuple[Tensor, Tensor]] = []
        for at in range(model.num_layers):
            unit = self.gathered(at)
            begun = self.entered(x)
            self.keeps = not self.recomputed
            x = self.layer(begun)
            self.keeps = True
            kept.append((begun if self.recomputed else begun.bare(), x.bare()))
            del unit, begun
        slope = self._loss(x)
        del x
        for at in reversed(range(model.num_layers)):
            unit = self.gathered(at)
            begun, ended = kept.pop()
            if self.recomputed:
                begun = self.entered(begun)
                ended = self.layer(begun).bare()
                begun = begun.bare()
            slopes = [slope]
            del slope
            slope = self.backward(ended, slopes, begun)
            del unit, begun, ended
        del slope, root
        if not self.moments:
            trained = [one for unit in self.units for one in unit if one.width == SINGLE]
            self.moments = [self.new(one.count, SINGLE) for one in trained for _ in range(2)]

    def _loss(self, x: Tensor) -> Tensor:
        """Return the gradient of what enters the last norm."""
        n = self.tokens * self.model.vocab_size
        begun = self.entered(x)
        del x
        y, count = self.norm(begun), begun.count
        logits = self.made(n, HALF, [y], lambda: self.new(count))
        del y
        wide = self.cast(logits, SINGLE)
        logarithms = self.made(n, SINGLE, [wide], lambda: self.new(n, SINGLE))
        self.keep(logarithms, [logarithms])
        del wide, logits
        ended = logarithms.bare()
        del logarithms
        return self.backward(ended, [self.new(n, SINGLE)], begun.bare())


def reserved_by_trace(model: Model, tokens: int, *, recomputed: bool, cast: bool) -> float:
    """Return the bytes that PyTorch's allocator holds after steps of so many tokens."""
    bench = Bench(model, tokens, recomputed=recomputed, cast=cast)
    for _ in range(STEPS):
        bench.step()
    return bench.allocator.reserved
