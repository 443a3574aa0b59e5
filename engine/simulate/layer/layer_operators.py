"""Operators of one layer's forward pass: operations and memory traffic of each.

Matrix products are those of `engine.formulas.operations`; passes over memory are those that the
step time counts (`engine.formulas.traffic`), fused or one kernel per elementary operation.
"""

from dataclasses import dataclass

from engine.catalog.models import Model, head_size
from engine.core.units import Bytes, Operations, Ratio, Tokens
from engine.formulas.operations import Scores, attention_scores, layer_gemms
from engine.formulas.roofline import product_bytes
from engine.formulas.traffic import PASSES, Passes
from engine.run.parallelism import Plan, Training

HALF: Bytes = 2.0
_ONE = Plan(world_size=1)
# Operations per element, about: RMSNorm squares, adds, scales twice; a rotation multiplies twice
# and adds; SiLU has an exponential, a sum, a division and a product, and the gate one more.
_NORM, _ADD, _ROTATE, _GATE, _GELU, _SOFTMAX = 4.0, 1.0, 3.0, 5.0, 8.0, 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """One operator of a layer, all its kernels together.

    Attributes:
        key: key of the operator.
        operations: operations of all its kernels.
        moved: bytes of memory traffic.
        is_product: whether it runs on the matrix units.
    """

    key: str
    operations: Operations
    moved: Bytes
    is_product: bool


def layer_operators(
    model: Model, tokens: Tokens, sequence_length: Tokens, *, fused: bool, flash: bool
) -> tuple[Operator, ...]:
    """Return the operators of a dense layer's forward pass for `tokens` tokens on one GPU.

    `fused`: norm, rotation and activation are one kernel each; `flash`: so is the attention.
    """
    sequences = max(1, round(tokens / sequence_length))
    training = Training(
        micro_batch_size=sequences,
        global_batch_size=sequences,
        sequence_length=round(tokens / sequences),
        flash_attention=flash,
        compiled=fused,
    )
    passes = PASSES["fused" if fused else "eager", model.mlp]
    products = {gemm.name: gemm for gemm in layer_gemms(model, _ONE, training)}
    gemms = {
        name: Operator(
            key=name,
            operations=gemm.operations,
            moved=gemm.count * product_bytes(gemm.m, gemm.n, gemm.k, HALF, HALF),
            is_product=True,
        )
        for name, gemm in products.items()
    }
    first = [name for name in gemms if name != "output" and not name.startswith("mlp")]
    hidden = tokens * model.hidden_size
    norm_passes = (passes.hidden[0] - 6) / 2  # what the two residual additions leave
    norm = _elementwise_operator("norm", hidden, _NORM, norm_passes)
    add = _elementwise_operator("add", hidden, _ADD, 3)
    rotation: tuple[Operator, ...] = ()
    if passes.heads[0]:
        heads = model.num_attention_heads + model.num_key_value_heads
        rotated = tokens * heads * head_size(model)
        rotation = (_elementwise_operator("rotation", rotated, _ROTATE, passes.heads[0]),)
    each = _GATE if model.mlp == "swiglu" else _GELU
    inner = _elementwise_operator(
        "activation", tokens * model.ffn_hidden_size, each, passes.inner[0]
    )
    scores = attention_scores(model, _ONE, training)
    return (
        norm,
        *(gemms[name] for name in first),
        *rotation,
        *_attention_operators(scores, passes, flash=flash),
        gemms["output"],
        add,
        _renamed(norm, "norm_2"),
        gemms["mlp_up"],
        inner,
        gemms["mlp_down"],
        _renamed(add, "add_2"),
    )


def _elementwise_operator(key: str, elements: Ratio, each: Operations, passes: Ratio) -> Operator:
    return Operator(
        key=key, operations=each * elements, moved=HALF * passes * elements, is_product=False
    )


def _renamed(operator: Operator, key: str) -> Operator:
    return Operator(
        key=key,
        operations=operator.operations,
        moved=operator.moved,
        is_product=operator.is_product,
    )


def _attention_operators(scores: Scores, passes: Passes, *, flash: bool) -> tuple[Operator, ...]:
    """Return the attention operators: one if fused, else products and softmax."""
    tokens = scores.sequences * scores.queries
    size = scores.head_size + scores.value_head_size
    vectors = HALF * tokens * size * (scores.heads + scores.key_value_heads)
    if flash:
        return (
            Operator(key="attention", operations=scores.operations, moved=vectors, is_product=True),
        )
    count = scores.sequences * scores.heads * scores.queries * scores.keys
    products = Operator(
        key="scores",
        operations=2 * count * size,
        moved=vectors + 2 * HALF * count,
        is_product=True,
    )
    softmax_bytes = passes.score[0] - 2 * HALF
    softmax = Operator(
        key="softmax", operations=_SOFTMAX * count, moved=softmax_bytes * count, is_product=False
    )
    return products, softmax
