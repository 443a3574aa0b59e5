"""The matrices that Muon orthogonalizes, and the time of Newton-Schulz on the busiest GPU.

Embedding, output layer, norms and biases stay with AdamW (Jordan et al. 2024; Moonlight 2025).
Query, key, value, gate and up are matrices of their own, however the products join them.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heapreplace

from engine.catalog.models import Model, head_size, num_sparse_layers, value_head_size
from engine.core.units import Count, Operations, Parameters, Ratio, Seconds
from engine.formulas.compute import matmul_time
from engine.formulas.muon import newton_schulz_operations
from engine.run.parallelism import Plan, Training, expert_sharding_ranks, sharding_ranks
from engine.simulate.layer.device_model import Axis, Rank

STEPS: Count = 5  # of Newton-Schulz: Jordan et al. 2024, and the default of every package


@dataclass(frozen=True, slots=True)
class Shape:
    """A matrix of a linear layer.

    Attributes:
        name: of its kind.
        rows: of outputs.
        columns: of inputs.
        by_rows: tensor parallelism splits its outputs, otherwise its inputs; None: neither.
    """

    name: str
    rows: Count
    columns: Count
    by_rows: bool | None = True

    @property
    def parameters(self) -> Parameters:
        """Its numbers."""
        return float(self.rows * self.columns)

    @property
    def operations(self) -> Operations:
        """Of Newton-Schulz on the whole of it."""
        return newton_schulz_operations(self.rows, self.columns, STEPS)


# Matrices of one shape, and how many of them.
Shapes = tuple[tuple[Shape, Count], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Matrices whose states the same ranks share.

    Attributes:
        shapes: of a rank of tensor and pipeline parallelism, whole, and how many of each.
        ranks: that share the states.
        stride: from one of them to the next.
        axis: their group.
    """

    shapes: Shapes
    ranks: Count
    stride: Count
    axis: Axis


@lru_cache(maxsize=64)
def pools_of(model: Model, plan: Plan) -> tuple[Pool, ...]:
    """Return the matrices of a mean pipeline stage, and those of one rank's experts apart."""
    sparse = num_sparse_layers(model)
    common: Counter[Shape] = Counter()
    for shape in _attention(model):
        common[shape] += _each(model.num_layers, plan)
    for shape in (
        _feed_forward(model, model.ffn_hidden_size, "") if model.num_layers > sparse else ()
    ):
        common[shape] += _each(model.num_layers - sparse, plan)
    if not sparse:
        return (_common(common, plan),)
    layers = _each(sparse, plan)
    common[Shape("router", model.num_experts, model.hidden_size, None)] += layers
    width = model.num_shared_experts * model.expert_ffn_hidden_size
    for shape in _feed_forward(model, width, "shared ") if width else ():
        common[shape] += layers
    own = layers * -(-model.num_experts // plan.expert_parallel)
    experts = _feed_forward(model, model.expert_ffn_hidden_size, "expert ")
    second = Pool(
        shapes=tuple((replace(shape, by_rows=None), own) for shape in experts),
        ranks=expert_sharding_ranks(plan),
        stride=plan.expert_parallel * plan.expert_tensor_parallel,
        axis="expert_data",
    )
    return _common(common, plan), second


def _common(shapes: Counter[Shape], plan: Plan) -> Pool:
    ranks, stride = sharding_ranks(plan), plan.tensor_parallel
    return Pool(shapes=tuple(shapes.items()), ranks=ranks, stride=stride, axis="data")


def _each(layers: Count, plan: Plan) -> Count:
    return -(-layers // plan.pipeline_parallel)


def _attention(model: Model) -> Iterable[Shape]:
    hidden, heads, head = model.hidden_size, model.num_attention_heads, head_size(model)
    value = value_head_size(model)
    yield Shape("out", hidden, heads * value, False)
    if model.attention != "mla":
        groups = model.num_key_value_heads
        yield Shape("query", heads * head, hidden)
        yield Shape("key", groups * head, hidden)
        yield Shape("value", groups * value, hidden)
        return
    latent, rotary = model.key_value_latent_size, model.rotary_head_size
    yield Shape("key and value down", latent + rotary, hidden, None)
    yield Shape("key and value up", heads * (head - rotary + value), latent)
    if model.query_latent_size:
        yield Shape("query down", model.query_latent_size, hidden, None)
    yield Shape("query up", heads * head, model.query_latent_size or hidden)


def _feed_forward(model: Model, width: Count, kind: str) -> Iterable[Shape]:
    if model.mlp == "swiglu":
        yield Shape(f"{kind}gate", width, model.hidden_size)
    yield Shape(f"{kind}up", width, model.hidden_size)
    yield Shape(f"{kind}down", model.hidden_size, width, False)


def sliced(shape: Shape, ranks: Count) -> Shape:
    """Return what one rank of tensor parallelism holds of a matrix."""
    if shape.by_rows is None:
        return shape
    if shape.by_rows:
        return replace(shape, rows=max(1, shape.rows // ranks))
    return replace(shape, columns=max(1, shape.columns // ranks))


def shared_out(shapes: Shapes, ranks: Count) -> list[Shapes]:
    """Return the matrices of each rank: the costliest first, each to the rank with the least.

    Source: Graham 1969 (longest processing time first); so assign Megatron-LM's layer-wise
    optimizer, by numbers, and its layer-sharded Muon, by operations, as here.
    """
    loads = [(0.0, rank) for rank in range(ranks)]
    heapify(loads)
    found: list[Counter[Shape]] = [Counter() for _ in range(ranks)]
    most = 0.0
    for shape, count in sorted(shapes, key=lambda one: -one[0].operations):
        cost, left = shape.operations, count
        while left:
            # Ranks that differ by less than one matrix get one each, round by round.
            rounds = left // ranks if most - loads[0][0] < cost else 0
            if rounds:
                loads = [(load + rounds * cost, rank) for load, rank in loads]
                most += rounds * cost
                for own in found:
                    own[shape] += rounds
                left -= rounds * ranks
                continue
            load, rank = loads[0]
            heapreplace(loads, (load + cost, rank))
            found[rank][shape] += 1
            most = max(most, load + cost)
            left -= 1
    return [tuple(own.items()) for own in found]


def operations_of(shapes: Shapes) -> Operations:
    """Return the operations of Newton-Schulz on some matrices."""
    return sum(count * shape.operations for shape, count in shapes)


def parameters_of(shapes: Shapes) -> Parameters:
    """Return the numbers in some matrices."""
    return sum(count * shape.parameters for shape, count in shapes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Busiest:
    """The rank with the most work.

    Attributes:
        shapes: its matrices.
        over_mean: its operations over those of the mean rank.
    """

    shapes: Shapes
    over_mean: Ratio


@lru_cache(maxsize=256)
def busiest(shapes: Shapes, ranks: Count) -> Busiest:
    """Return the rank that orthogonalizes longest, where the matrices are shared out."""
    most = max(shared_out(shapes, ranks), key=operations_of)
    mean = operations_of(shapes) / ranks
    return Busiest(shapes=most, over_mean=operations_of(most) / mean if mean else 1.0)


def products_time(shapes: Shapes, rank: Rank) -> Seconds:
    """Return the time of Newton-Schulz on some matrices, one after another, in bf16."""
    return sum(count * _one(shape, rank) for shape, count in shapes)


def _one(shape: Shape, rank: Rank) -> Seconds:
    small, large = sorted((shape.rows, shape.columns))
    rates = (rank.matmul, rank.sms, rank.fill)
    gram = matmul_time(small, small, large, 1, *rates)
    square = matmul_time(small, small, small, 1, *rates)
    last = matmul_time(small, large, small, 1, *rates)
    return STEPS * (gram + square + last)


def orthogonalizing_time(model: Model, plan: Plan, training: Training, rank: Rank) -> Seconds:
    """Return what Newton-Schulz adds to a step: 0 unless the optimizer is Muon.

    Of sharded states each matrix is whole on one rank, as in Megatron-LM's layer-wise optimizer;
    the ranks of tensor parallelism gather it and work on it all. The other ways are in
    `engine.simulate.step.muon`.
    """
    if training.optimizer != "muon":
        return 0.0
    time = 0.0
    for pool in pools_of(model, plan):
        shared = busiest(pool.shapes, pool.ranks).shapes if plan.zero_stage else pool.shapes
        time += products_time(shared, rank)
    return time
