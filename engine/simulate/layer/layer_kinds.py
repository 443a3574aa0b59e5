"""What each kind of layer of a model costs: operations, the cache of a sequence, and exchanges."""

from collections import Counter
from dataclasses import dataclass, replace

from engine.catalog.mixers.attention import cached_elements
from engine.catalog.mixers.compose import layer_letters
from engine.catalog.models import Model, kinds_in, layer_kinds
from engine.core.units import Bytes, Count, Operations, Share, Tokens
from engine.formulas.operations import (
    FORWARDS_PER_STEP,
    Gemm,
    attention_gemms,
    attention_operations,
    attention_scores,
    layer_gemms,
    local_tokens,
    output_gemm,
)
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.context_exchange import context_ring
from engine.simulate.layer.device_model import RankRates

_ONE = Plan(world_size=1)
_TOKEN = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)
_HALF: Bytes = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KindCost:
    """Operations of one token in all layers of a kind, forward and backward.

    Attributes:
        letter: of the kind; "" is the output layer.
        layers: of the kind.
        mixing: products of the mixer with its matrices.
        pairs: between tokens: scores and weighted sums, or the state of a linear layer.
        feed_forward: products of the part behind the mixer.
    """

    letter: str
    layers: Count
    mixing: Operations
    pairs: Operations
    feed_forward: Operations

    @property
    def total(self) -> Operations:
        """All of them."""
        return self.mixing + self.pairs + self.feed_forward


def kind_costs(model: Model, sequence_length: Tokens, visible: Share) -> tuple[KindCost, ...]:
    """Return the operations of a token by letter, in the order of the model, output layer last.

    `visible` is the share of the query-key pairs that is counted: 0.5 of a causal mask.
    """
    costs: dict[str, KindCost] = {}
    for layers, letter, kind, sparse in _lettered(model):
        each = layers * FORWARDS_PER_STEP
        mixing = _operations(attention_gemms(kind, _ONE, _TOKEN))
        whole = _operations(layer_gemms(kind, _ONE, _TOKEN, sparse=sparse))
        pairs = attention_operations(kind, sequence_length, visible)
        before = costs.get(letter) or KindCost(
            letter=letter, layers=0, mixing=0.0, pairs=0.0, feed_forward=0.0
        )
        costs[letter] = KindCost(
            letter=letter,
            layers=before.layers + layers,
            mixing=before.mixing + each * mixing,
            pairs=before.pairs + each * pairs,
            feed_forward=before.feed_forward + each * (whole - mixing),
        )
    output = FORWARDS_PER_STEP * output_gemm(model, _ONE, _TOKEN).operations
    last = KindCost(letter="", layers=1, mixing=0.0, pairs=0.0, feed_forward=output)
    return (*costs.values(), last)


def _operations(gemms: tuple[Gemm, ...]) -> Operations:
    return sum(gemm.operations for gemm in gemms)


def _lettered(model: Model) -> tuple[tuple[Count, str, Model, bool], ...]:
    """Return number, letter, model of one layer, and whether it has experts, of every kind."""
    kinds, counts = layer_kinds(model), Counter[tuple[str, Count]]()
    for layer, letter in enumerate(layer_letters(model)):
        counts[letter, kinds_in(model, range(layer, layer + 1)).index(1)] += 1
    return tuple(
        (count, letter, replace(kinds[index][0], num_layers=1), kinds[index][1])
        for (letter, index), count in counts.items()
    )


def cached_bytes(model: Model, sequence_length: Tokens) -> Bytes:
    """Return the bytes of one sequence that all layers keep for generation.

    Keys and values in 16 bits, or their latents; states of linear layers in fp32, of one size.
    """
    return sum(count * _cached(kind, sequence_length) for count, _, kind, _ in _lettered(model))


def _cached(kind: Model, sequence_length: Tokens) -> Bytes:
    if kind.mixer:
        size: Bytes = kind.mixer.cached(kind, sequence_length)
        return size
    return _HALF * sequence_length * cached_elements(kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The bytes that a rank of context parallelism receives in one layer, forward.

    Attributes:
        letter: of the layer's kind.
        received: bytes.
        way: "ring" of keys and values, "gather" of all of them or of their latents, or "heads":
            all tokens of some heads, and results back.
    """

    letter: str
    received: Bytes
    way: str


def context_exchanges(
    model: Model, plan: Plan, training: Training, rank: RankRates
) -> tuple[Exchange, ...]:
    """Return the exchange of a layer of each kind that has one, as the step time counts it."""
    ranks = plan.context_parallel
    exchanges: dict[str, Exchange] = {}
    for _, letter, kind, _ in _lettered(model):
        others = _HALF * local_tokens(plan, training) * (ranks - 1)
        if kind.mixer and not kind.mixer.attends:
            if width := sum(kind.mixer.exchanged(kind)):
                size = others * width / (plan.tensor_parallel * ranks)
                exchanges[letter] = Exchange(letter=letter, received=size, way="heads")
        elif kind.mixer and (width := kind.mixer.gathered(kind, plan.tensor_parallel)):
            exchanges[letter] = Exchange(letter=letter, received=others * width, way="gather")
        else:
            ring = context_ring(attention_scores(kind, plan, training), plan, training, rank)
            exchanges[letter] = Exchange(
                letter=letter, received=ring.steps * ring.block, way="ring"
            )
    return tuple(exchanges.values())
