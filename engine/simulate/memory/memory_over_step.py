"""Activation memory of a rank over one step, layer by layer.

The forward pass leaves the kept tensors of every layer. In the backward pass each layer first
makes again what was dropped, then needs room for its gradients, then frees everything. The fullest
moment is the peak of `engine.simulate.memory.memory`.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.catalog.models import Model, head_size, value_head_size
from engine.core.units import Bytes, Count, Operations
from engine.formulas.activations import (
    FP8,
    HALF,
    MASK,
    SINGLE,
    embedding_kept,
    feed_forward_input,
    gradients_of_layer,
    linear_input,
    logits_memory,
    norm_input,
    replicated_share,
)
from engine.formulas.operations import (
    MULTIPLY_ADD,
    attention_scores,
    local_tokens,
    output_gemm,
)
from engine.run.parallelism import Plan, Training, rotates_by_constants

# Saved tensors of a dense layer: bytes of each, and the cost of recomputing it.
#
# An operator runs again if one of its tensors was dropped; what it reads is kept or made again
# before it. So the cost of a set of dropped tensors is a sum over operators, and every tensor is
# made again once. The sizes are those of `engine.formulas.activations`, tensor by tensor.

# The input of the layer: from here everything else is made again.
ANCHOR = "input"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTensor:
    """A tensor that the backward pass of a layer reads.

    Attributes:
        key: key of the tensor.
        operator: operator that computes it.
        size: bytes of one layer and one micro-batch on one rank.
    """

    key: str
    operator: str
    size: Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedLayer:
    """Saved tensors and operators of a layer.

    Attributes:
        tensors: in the order of the forward pass, the layer's input first.
        operations: operator -> operations of one forward run on one rank; 0 for element-wise ones.
        rest: operations of the forward pass whose result no backward pass reads.
    """

    tensors: tuple[SavedTensor, ...]
    operations: dict[str, Operations]
    rest: Operations

    @property
    def forward(self) -> Operations:
        """Operations of the forward pass of the layer."""
        return sum(self.operations.values()) + self.rest

    @property
    def size(self) -> Bytes:
        """Bytes of all tensors."""
        return sum(tensor.size for tensor in self.tensors)

    def kept(self, dropped: Iterable[str]) -> Bytes:
        """Return the bytes kept from the forward to the backward pass."""
        gone = frozenset(dropped)
        return sum(tensor.size for tensor in self.tensors if tensor.key not in gone)

    def again(self, dropped: Iterable[str]) -> Operations:
        """Return the recomputed operations."""
        gone = frozenset(dropped)
        used = {tensor.operator for tensor in self.tensors if tensor.key in gone}
        return sum(self.operations[operator] for operator in used)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LayerShape:
    """Local dimensions of a layer on one rank."""

    tokens: float
    share: float
    heads: float
    groups: float
    columns: float


def saved_layer(model: Model, plan: Plan, training: Training) -> SavedLayer:
    """Return the tensors that a dense layer saves when nothing is recomputed."""
    split = plan.tensor_parallel
    shape = _LayerShape(
        tokens=local_tokens(plan, training),
        share=replicated_share(plan),
        heads=model.num_attention_heads / split,
        groups=max(model.num_key_value_heads, split) / split,
        columns=model.ffn_hidden_size / split,
    )
    sizes = {
        **_attention_bytes(model, training, shape),
        **_feed_forward_bytes(model, training, shape),
    }
    return SavedLayer(
        tensors=tuple(
            SavedTensor(
                key=key, operator=_OPERATOR_OF.get(key, key), size=shape.tokens * bytes_per_token
            )
            for key, bytes_per_token in sizes.items()
        ),
        operations=_operations(model, plan, training, shape),
        rest=MULTIPLY_ADD * shape.tokens * model.hidden_size * shape.columns,
    )


# Tensors that an operator makes beside others, or whose operator has another name.
_OPERATOR_OF = {
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


def _attention_bytes(model: Model, training: Training, shape: _LayerShape) -> dict[str, Bytes]:
    """Return tensor -> bytes per token, up to the residual addition after the attention."""
    hidden, head, value = model.hidden_size, head_size(model), value_head_size(model)
    stored = linear_input(training)
    sizes = {ANCHOR: HALF * hidden * shape.share}
    if copies := norm_input(model, training) - HALF:
        sizes["norm_copies"] = copies * hidden * shape.share
    sizes |= {
        "normed": stored * hidden * shape.share,
        "query": HALF * shape.heads * head,
        "key": HALF * shape.groups * head,
        "value": HALF * shape.groups * value,
    }
    # Where the rotation keeps nothing, queries and keys are those with their positions.
    if model.mlp == "swiglu" and not rotates_by_constants(training):
        sizes["rotated"] = HALF * (shape.heads + shape.groups) * head
    if training.flash_attention:
        sizes["normalizer"] = SINGLE * shape.heads
    else:
        scores = shape.heads * training.sequence_length
        sizes |= {
            "softmax": HALF * scores,
            "score_mask": MASK * scores,
            "dropped_scores": HALF * scores,
        }
    produced = HALF if training.flash_attention else stored
    sizes["attended"] = produced * shape.heads * value
    if _has_masks(model, training):
        sizes["output_mask"] = MASK * hidden * shape.share
    return sizes | {"middle": HALF * hidden * shape.share}


def _feed_forward_bytes(model: Model, training: Training, shape: _LayerShape) -> dict[str, Bytes]:
    """Return tensor -> bytes per token of the feed-forward half of the layer."""
    hidden, stored = model.hidden_size, feed_forward_input(training)
    sizes: dict[str, Bytes] = {}
    if copies := norm_input(model, training) - HALF:
        sizes["norm_copies_2"] = copies * hidden * shape.share
    sizes["normed_2"] = stored * hidden * shape.share
    if model.mlp == "swiglu":
        each = FP8 if training.fp8_activation_inputs else HALF
        sizes |= {"gate": each * shape.columns, "up": each * shape.columns}
        if not training.compiled:
            sizes["activated"] = HALF * shape.columns
    else:
        sizes["inner"] = HALF * shape.columns
    sizes["product"] = stored * shape.columns
    if _has_masks(model, training):
        sizes["mlp_mask"] = MASK * hidden * shape.share
    return sizes


def _operations(
    model: Model, plan: Plan, training: Training, shape: _LayerShape
) -> dict[str, Operations]:
    """Return operator -> forward operations; element-wise operators count as 0."""
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
    """A Pareto-optimal set of dropped tensors.

    Attributes:
        kept: kept bytes of one layer.
        again: recomputed operations of one layer.
        dropped: keys of the dropped tensors.
    """

    kept: Bytes
    again: Operations
    dropped: frozenset[str]


def num_drop_sets(layer: SavedLayer) -> Count:
    """Return the number of possible drop sets, the empty set included."""
    return 1 << (len(layer.tensors) - 1)


def pareto_drop_sets(layer: SavedLayer) -> tuple[DropSet, ...]:
    """Return the Pareto-optimal drop sets by bytes and operations, the fewest operations first.

    An operator that runs again makes all of its tensors, so that keeping one of them is never
    better. What is left is a sum over operators: the sets grow by one operator at a time, and a
    set that another one beats is left out at once.
    """
    by_operator: dict[str, list[SavedTensor]] = {}
    for tensor in layer.tensors:
        if tensor.key != ANCHOR:
            by_operator.setdefault(tensor.operator, []).append(tensor)
    drop_sets = [DropSet(kept=layer.size, again=0.0, dropped=frozenset())]
    for operator, tensors in by_operator.items():
        size, cost = sum(tensor.size for tensor in tensors), layer.operations[operator]
        keys = frozenset(tensor.key for tensor in tensors)
        more = [
            DropSet(kept=old.kept - size, again=old.again + cost, dropped=old.dropped | keys)
            for old in drop_sets
        ]
        drop_sets = _pareto_front([*drop_sets, *more])
    return tuple(drop_sets)


def _pareto_front(sets: list[DropSet]) -> list[DropSet]:
    front: list[DropSet] = []
    for drop_set in sorted(sets, key=lambda drop_set: (drop_set.again, drop_set.kept)):
        if not front or drop_set.kept < front[-1].kept:
            front.append(drop_set)
    return front


def policy_drops(layer: SavedLayer, policy: str) -> frozenset[str]:
    """Return the tensors that a named recomputation policy drops.

    Args:
        layer: its tensors.
        policy: "none"; "full": all but the layer's input; "core_attn": Megatron's selective, the
            core of the attention; "every_second": torchtitan's selective, which saves the result
            of the attention and of every second matrix product (queries, values, gate).
    """
    keys = [tensor.key for tensor in layer.tensors if tensor.key != ANCHOR]
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


BACKWARD = 2.0  # products of the backward pass for each of the forward pass


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryMoment:
    """Activation memory at one moment of the step.

    Attributes:
        done: operations of the rank since the step began.
        activations: activations, and working memory of the running layer.
        phase: "forward", "logits", "again", "backward", "freed".
        layer: running layer, from 0; the number of layers stands for the output layer.
    """

    done: Operations
    activations: Bytes
    phase: str
    layer: Count


def memory_over_step(
    model: Model, plan: Plan, training: Training, layer: SavedLayer, dropped: frozenset[str]
) -> tuple[MemoryMoment, ...]:
    """Return the moments of one micro-batch's passes, with the same dropped tensors per layer."""
    kept, repeated = layer.kept(dropped), layer.again(dropped)
    gradients = local_tokens(plan, training) * gradients_of_layer(model, plan)
    logits, output = logits_memory(model, plan, training), output_gemm(model, plan, training)
    done, activations = 0.0, embedding_kept(model, plan, training)
    moments = [MemoryMoment(done=done, activations=activations, phase="forward", layer=0)]

    def add(phase: str, number: Count, work: Operations, extra: Bytes = 0.0) -> None:
        nonlocal done
        done += work
        moments.append(
            MemoryMoment(done=done, activations=activations + extra, phase=phase, layer=number)
        )

    for number in range(model.num_layers):
        activations += kept
        add("forward", number, layer.forward)
    add("logits", model.num_layers, output.operations, logits.kept + logits.working)
    add("logits", model.num_layers, BACKWARD * output.operations, logits.kept + logits.working)
    add("freed", model.num_layers, 0.0)
    for number in reversed(range(model.num_layers)):
        full = layer.size - kept + gradients
        add("again", number, repeated, full)
        add("backward", number, BACKWARD * layer.forward, full)
        activations -= kept
        add("freed", number, 0.0)
    return tuple(moments)


def peak_moment(moments: tuple[MemoryMoment, ...]) -> MemoryMoment:
    """Return the first moment with the peak memory."""
    return max(moments, key=lambda moment: moment.activations)
