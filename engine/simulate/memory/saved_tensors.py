"""The saved tensors of a dense layer: what each takes, and what it costs to make it again.

An operator runs again if one of its tensors was dropped; what it reads is kept or made again
before it. So the cost of a set of dropped tensors is a sum over operators, and every tensor is
made again once. The sizes are those of `engine.formulas.activations`, tensor by tensor.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.catalog.models import Model, head_size, value_head_size
from engine.core.units import Bytes, Count, Operations
from engine.formulas.activations import (
    HALF,
    MASK,
    SINGLE,
    linear_input,
    norm_input,
    replicated_share,
)
from engine.formulas.operations import (
    MULTIPLY_ADD,
    attention_scores,
    local_tokens,
)
from engine.run.parallelism import Plan, Training, rotates_by_constants

# The input of the layer: from here everything else is made again.
ANCHOR = "input"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """A tensor that the backward pass of a layer reads.

    Attributes:
        key: its own.
        operator: that makes it.
        size: of one layer and one micro-batch on one rank.
    """

    key: str
    operator: str
    size: Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedLayer:
    """A layer by its tensors.

    Attributes:
        tensors: in the order of the forward pass, the layer's input first.
        operations: operator -> operations of one forward run on one rank; 0 for element-wise ones.
        rest: operations of the forward pass whose result no backward pass reads.
    """

    tensors: tuple[Saved, ...]
    operations: dict[str, Operations]
    rest: Operations

    @property
    def forward(self) -> Operations:
        """Of the forward pass of the layer."""
        return sum(self.operations.values()) + self.rest

    @property
    def size(self) -> Bytes:
        """Of all tensors."""
        return sum(one.size for one in self.tensors)

    def kept(self, dropped: Iterable[str]) -> Bytes:
        """Return what stays from the forward to the backward pass."""
        gone = frozenset(dropped)
        return sum(one.size for one in self.tensors if one.key not in gone)

    def again(self, dropped: Iterable[str]) -> Operations:
        """Return the operations that run again."""
        gone = frozenset(dropped)
        used = {one.operator for one in self.tensors if one.key in gone}
        return sum(self.operations[operator] for operator in used)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layer:
    """What a tensor is worth on one rank: bytes of a hidden state, of a head, of an inner value."""

    tokens: float
    share: float
    heads: float
    groups: float
    columns: float


def saved_layer(model: Model, plan: Plan, training: Training) -> SavedLayer:
    """Return the tensors that a dense layer saves when nothing is recomputed."""
    split = plan.tensor_parallel
    shape = _Layer(
        tokens=local_tokens(plan, training),
        share=replicated_share(plan),
        heads=model.num_attention_heads / split,
        groups=max(model.num_key_value_heads, split) / split,
        columns=model.ffn_hidden_size / split,
    )
    sizes = {
        **_attention(model, training, shape),
        **_feed_forward(model, training, shape),
    }
    return SavedLayer(
        tensors=tuple(
            Saved(key=key, operator=_MADE_BY.get(key, key), size=shape.tokens * each)
            for key, each in sizes.items()
        ),
        operations=_operations(model, plan, training, shape),
        rest=MULTIPLY_ADD * shape.tokens * model.hidden_size * shape.columns,
    )


# Tensors that an operator makes beside others, or whose operator has another name.
_MADE_BY = {
    "normalizer": "attention",
    "attended": "attention",
    "dropped_scores": "score_dropout",
    "score_mask": "score_dropout",
    "output_mask": "output_dropout",
    "mlp_mask": "mlp_dropout",
    "middle": "output",
    "product": "multiply",
    "norm_copies": "normed",
    "norm_copies_2": "normed_2",
    "inner": "inner",
}


def _has_masks(model: Model, training: Training) -> bool:
    return model.mlp == "gelu" and training.framework != "fsdp"


def _attention(model: Model, training: Training, shape: _Layer) -> dict[str, Bytes]:
    """Return bytes per token up to the sum after the attention."""
    hidden, head, value = model.hidden_size, head_size(model), value_head_size(model)
    stored = linear_input(training)
    found = {ANCHOR: HALF * hidden * shape.share}
    if copies := norm_input(model, training) - HALF:
        found["norm_copies"] = copies * hidden * shape.share
    found |= {
        "normed": stored * hidden * shape.share,
        "query": HALF * shape.heads * head,
        "key": HALF * shape.groups * head,
        "value": HALF * shape.groups * value,
    }
    # Where the rotation keeps nothing, queries and keys are those with their positions.
    if model.mlp == "swiglu" and not rotates_by_constants(training):
        found["rotated"] = HALF * (shape.heads + shape.groups) * head
    if training.flash_attention:
        found["normalizer"] = SINGLE * shape.heads
    else:
        scores = shape.heads * training.sequence_length
        found |= {
            "softmax": HALF * scores,
            "score_mask": MASK * scores,
            "dropped_scores": HALF * scores,
        }
    produced = HALF if training.flash_attention else stored
    found["attended"] = produced * shape.heads * value
    if _has_masks(model, training):
        found["output_mask"] = MASK * hidden * shape.share
    return found | {"middle": HALF * hidden * shape.share}


def _feed_forward(model: Model, training: Training, shape: _Layer) -> dict[str, Bytes]:
    """Return bytes per token of the second half of the layer."""
    hidden, stored = model.hidden_size, linear_input(training)
    found: dict[str, Bytes] = {}
    if copies := norm_input(model, training) - HALF:
        found["norm_copies_2"] = copies * hidden * shape.share
    found["normed_2"] = stored * hidden * shape.share
    if model.mlp == "swiglu":
        found |= {"gate": HALF * shape.columns, "up": HALF * shape.columns}
        if not training.compiled:
            found["activated"] = HALF * shape.columns
    else:
        found["inner"] = HALF * shape.columns
    found["product"] = stored * shape.columns
    if _has_masks(model, training):
        found["mlp_mask"] = MASK * hidden * shape.share
    return found


def _operations(
    model: Model, plan: Plan, training: Training, shape: _Layer
) -> dict[str, Operations]:
    """Return what each operator computes forward; those that only touch elements count as none."""
    each = MULTIPLY_ADD * shape.tokens * model.hidden_size
    head, value = head_size(model), value_head_size(model)
    core = attention_scores(model, plan, training)
    # Only a fused kernel leaves out the pairs that a causal mask hides.
    pairs = core.operations if training.flash_attention else core.operations / core.visible
    matrix = {
        "query": each * shape.heads * head,
        "key": each * shape.groups * head,
        "value": each * shape.groups * value,
        "output": each * shape.heads * value,
        "gate": each * shape.columns,
        "up": each * shape.columns if model.mlp == "swiglu" else 0.0,
        "inner": each * shape.columns,
    }
    if model.mlp == "swiglu":
        matrix["inner"] = 0.0
    else:
        matrix["gate"] = 0.0
    attention = {"attention": pairs}
    if not training.flash_attention:
        attention = {"softmax": pairs / 2, "attention": pairs / 2, "score_dropout": 0.0}
    light = ("input", "normed", "rotated", "output_dropout", "normed_2", "activated", "multiply")
    return matrix | attention | dict.fromkeys((*light, "mlp_dropout"), 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropSet:
    """A set of dropped tensors that no other set beats.

    Attributes:
        kept: bytes of one layer that stay.
        again: operations of one layer that run again.
        dropped: the tensors, by key.
    """

    kept: Bytes
    again: Operations
    dropped: frozenset[str]


def num_drop_sets(layer: SavedLayer) -> Count:
    """Return how many sets of tensors can be dropped, none included."""
    return 1 << (len(layer.tensors) - 1)


def best_sets(layer: SavedLayer) -> tuple[DropSet, ...]:
    """Return the drop sets that none beats in both bytes and operations, the cheapest first.

    An operator that runs again makes all of its tensors, so that keeping one of them is never
    better. What is left is a sum over operators: the sets grow by one operator at a time, and a
    set that another one beats is left out at once.
    """
    by_operator: dict[str, list[Saved]] = {}
    for one in layer.tensors:
        if one.key != ANCHOR:
            by_operator.setdefault(one.operator, []).append(one)
    found = [DropSet(kept=layer.size, again=0.0, dropped=frozenset())]
    for operator, tensors in by_operator.items():
        size, cost = sum(one.size for one in tensors), layer.operations[operator]
        keys = frozenset(one.key for one in tensors)
        more = [
            DropSet(kept=old.kept - size, again=old.again + cost, dropped=old.dropped | keys)
            for old in found
        ]
        found = _unbeaten([*found, *more])
    return tuple(found)


def _unbeaten(sets: list[DropSet]) -> list[DropSet]:
    found: list[DropSet] = []
    for one in sorted(sets, key=lambda some: (some.again, some.kept)):
        if not found or one.kept < found[-1].kept:
            found.append(one)
    return found


def drops_of(layer: SavedLayer, policy: str) -> frozenset[str]:
    """Return what a named policy drops.

    Args:
        layer: its tensors.
        policy: "none"; "full": all but the layer's input; "core_attn": Megatron's selective, the
            core of the attention; "every_second": torchtitan's selective, which saves the result
            of the attention and of every second matrix product (queries, values, gate).
    """
    keys = [one.key for one in layer.tensors if one.key != ANCHOR]
    if policy == "none":
        return frozenset()
    if policy == "full":
        return frozenset(keys)
    if policy == "core_attn":
        core = ("normalizer", "softmax", "score_mask", "dropped_scores")
        return frozenset(keys) & frozenset(core)
    if policy == "every_second":
        return frozenset(keys) - {"query", "value", "gate", "inner", "normalizer", "attended"}
    raise LookupError(f"no policy '{policy}'; there are none, full, core_attn, every_second")
