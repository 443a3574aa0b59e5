"""Matrices that Muon orthogonalizes, and the Newton-Schulz time of the busiest GPU.

Embedding, output layer, norms and biases stay with AdamW (Jordan et al. 2024; Moonlight 2025).
Query, key, value, gate and up are matrices of their own, however the products join them.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heapreplace

from engine.catalog.models import (
    Model,
    expert_input_size,
    head_size,
    kinds_in,
    layer_kinds,
    num_sparse_layers,
    value_head_size,
)
from engine.core.units import Count, Operations, Parameters, Ratio, Seconds
from engine.formulas.compute import matmul_time
from engine.formulas.muon import newton_schulz_operations
from engine.run.parallelism import Plan, Training, expert_sharding_ranks, sharding_ranks
from engine.simulate.layer.device_model import Axis, RankRates

STEPS: Count = 5  # of Newton-Schulz: Jordan et al. 2024, and the default of every package


@dataclass(frozen=True, slots=True)
class MatrixShape:
    """A matrix of a linear layer.

    Attributes:
        name: kind of the matrix.
        rows: number of outputs.
        columns: number of inputs.
        by_rows: whether tensor parallelism splits the outputs or the inputs; None for neither.
    """

    name: str
    rows: Count
    columns: Count
    by_rows: bool | None = True

    @property
    def parameters(self) -> Parameters:
        """Number of elements."""
        return float(self.rows * self.columns)

    @property
    def operations(self) -> Operations:
        """Operations of Newton-Schulz on the whole matrix."""
        return newton_schulz_operations(self.rows, self.columns, STEPS)


# Matrix shapes, each with the number of matrices.
MatrixCounts = tuple[tuple[MatrixShape, Count], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixPool:
    """Matrices whose optimizer states are sharded over the same ranks.

    Attributes:
        shapes: whole matrices of a tensor- and pipeline-parallel rank, with their counts.
        ranks: number of ranks that share the states.
        stride: stride between these ranks.
        axis: axis of their group.
    """

    shapes: MatrixCounts
    ranks: Count
    stride: Count
    axis: Axis


@lru_cache(maxsize=64)
def matrix_pools(model: Model, plan: Plan) -> tuple[MatrixPool, ...]:
    """Return the matrices of a mean pipeline stage; those of experts form a pool of their own."""
    sparse = num_sparse_layers(model)
    common = _common_matrices(model, plan)
    if not sparse:
        return (_data_pool(common, plan),)
    layers = _layers_per_stage(sparse, plan)
    common[MatrixShape("router", model.num_experts, model.hidden_size, None)] += layers
    if latent := model.expert_hidden_size:
        common[MatrixShape("latent down", latent, model.hidden_size, None)] += layers
        common[MatrixShape("latent up", model.hidden_size, latent, None)] += layers
    width = model.num_shared_experts * model.expert_ffn_hidden_size
    for shape in _feed_forward_matrices(model, width, "shared ") if width else ():
        common[shape] += layers
    experts_per_rank = layers * -(-model.num_experts // plan.expert_parallel)
    inside = replace(model, hidden_size=expert_input_size(model))
    experts = _feed_forward_matrices(inside, model.expert_ffn_hidden_size, "expert ")
    expert_pool = MatrixPool(
        shapes=tuple((replace(shape, by_rows=None), experts_per_rank) for shape in experts),
        ranks=expert_sharding_ranks(plan),
        stride=plan.expert_parallel * plan.expert_tensor_parallel,
        axis="expert_data",
    )
    return _data_pool(common, plan), expert_pool


def _common_matrices(model: Model, plan: Plan) -> Counter[MatrixShape]:
    """Return the matrices of mixers and of layers without experts, of a mean pipeline stage."""
    common: Counter[MatrixShape] = Counter()
    kinds, counts = layer_kinds(model), kinds_in(model, range(model.num_layers))
    pairs = [*zip(counts, kinds, strict=True)]
    for count, (kind, _) in pairs if model.mix else ((model.num_layers, kinds[0]),):
        for shape in _attention_matrices(kind):
            common[shape] += _layers_per_stage(count, plan)
    for count, (kind, has_experts) in pairs:
        if count and not has_experts and kind.ffn_hidden_size:
            for shape in _feed_forward_matrices(kind, kind.ffn_hidden_size, ""):
                common[shape] += _layers_per_stage(count, plan)
    return common


def _data_pool(shapes: Counter[MatrixShape], plan: Plan) -> MatrixPool:
    ranks, stride = sharding_ranks(plan), plan.tensor_parallel
    return MatrixPool(shapes=tuple(shapes.items()), ranks=ranks, stride=stride, axis="data")


def _layers_per_stage(layers: Count, plan: Plan) -> Count:
    return -(-layers // plan.pipeline_parallel)


def _attention_matrices(model: Model) -> Iterable[MatrixShape]:
    if model.mixer:
        yield from (MatrixShape(*matrix) for matrix in model.mixer.matrices(model))
        if not model.mixer.attends:
            return
    hidden, heads, head = model.hidden_size, model.num_attention_heads, head_size(model)
    value = value_head_size(model)
    yield MatrixShape("out", hidden, heads * value, False)
    if model.attention != "mla":
        groups = model.num_key_value_heads
        yield MatrixShape("query", heads * head, hidden)
        yield MatrixShape("key", groups * head, hidden)
        yield MatrixShape("value", groups * value, hidden)
        return
    latent, rotary = model.key_value_latent_size, model.rotary_head_size
    yield MatrixShape("key and value down", latent + rotary, hidden, None)
    yield MatrixShape("key and value up", heads * (head - rotary + value), latent)
    if model.query_latent_size:
        yield MatrixShape("query down", model.query_latent_size, hidden, None)
    yield MatrixShape("query up", heads * head, model.query_latent_size or hidden)


def _feed_forward_matrices(model: Model, width: Count, kind: str) -> Iterable[MatrixShape]:
    if model.mlp == "swiglu":
        yield MatrixShape(f"{kind}gate", width, model.hidden_size)
    yield MatrixShape(f"{kind}up", width, model.hidden_size)
    yield MatrixShape(f"{kind}down", model.hidden_size, width, False)


def slice_shape(shape: MatrixShape, ranks: Count) -> MatrixShape:
    """Return the slice of a matrix on one tensor-parallel rank."""
    if shape.by_rows is None:
        return shape
    if shape.by_rows:
        return replace(shape, rows=max(1, shape.rows // ranks))
    return replace(shape, columns=max(1, shape.columns // ranks))


def assign_matrices(shapes: MatrixCounts, ranks: Count) -> list[MatrixCounts]:
    """Return the matrices of each rank, assigned greedily: the costliest to the least loaded rank.

    Source: Graham 1969 (longest processing time first); so assign Megatron-LM's layer-wise
    optimizer, by numbers, and its layer-sharded Muon, by operations, as here.
    """
    loads = [(0.0, rank) for rank in range(ranks)]
    heapify(loads)
    assigned: list[Counter[MatrixShape]] = [Counter() for _ in range(ranks)]
    most = 0.0
    for shape, count in sorted(shapes, key=lambda entry: -entry[0].operations):
        cost, remaining = shape.operations, count
        while remaining:
            # Ranks that differ by less than one matrix get one each, round by round.
            rounds = remaining // ranks if most - loads[0][0] < cost else 0
            if rounds:
                loads = [(load + rounds * cost, rank) for load, rank in loads]
                most += rounds * cost
                for matrix_counts in assigned:
                    matrix_counts[shape] += rounds
                remaining -= rounds * ranks
                continue
            load, rank = loads[0]
            heapreplace(loads, (load + cost, rank))
            assigned[rank][shape] += 1
            most = max(most, load + cost)
            remaining -= 1
    return [tuple(matrix_counts.items()) for matrix_counts in assigned]


def matrix_operations(shapes: MatrixCounts) -> Operations:
    """Return the operations of Newton-Schulz on some matrices."""
    return sum(count * shape.operations for shape, count in shapes)


def matrix_parameters(shapes: MatrixCounts) -> Parameters:
    """Return the number of elements of some matrices."""
    return sum(count * shape.parameters for shape, count in shapes)


@dataclass(frozen=True, slots=True, kw_only=True)
class BusiestRank:
    """Matrices and load of the busiest rank.

    Attributes:
        shapes: matrices of the rank.
        over_mean: operations over the mean of all ranks.
    """

    shapes: MatrixCounts
    over_mean: Ratio


@lru_cache(maxsize=256)
def busiest_rank(shapes: MatrixCounts, ranks: Count) -> BusiestRank:
    """Return the busiest rank after assigning the matrices to ranks."""
    most = max(assign_matrices(shapes, ranks), key=matrix_operations)
    mean = matrix_operations(shapes) / ranks
    return BusiestRank(shapes=most, over_mean=matrix_operations(most) / mean if mean else 1.0)


def newton_schulz_time(shapes: MatrixCounts, rank: RankRates) -> Seconds:
    """Return the time of Newton-Schulz on some matrices, one after another, in bf16."""
    return sum(count * _matrix_time(shape, rank) for shape, count in shapes)


def _matrix_time(shape: MatrixShape, rank: RankRates) -> Seconds:
    small, large = sorted((shape.rows, shape.columns))
    rates = (rank.matmul, rank.sms, rank.fill)
    gram = matmul_time(small, small, large, 1, *rates)
    square = matmul_time(small, small, small, 1, *rates)
    last = matmul_time(small, large, small, 1, *rates)
    return STEPS * (gram + square + last)


def muon_time(model: Model, plan: Plan, training: Training, rank: RankRates) -> Seconds:
    """Return the Newton-Schulz time of a step: 0 unless the optimizer is Muon.

    Of sharded states each matrix is whole on one rank, as in Megatron-LM's layer-wise optimizer;
    the ranks of tensor parallelism gather it and work on it all. The other ways are in
    `engine.simulate.step.muon`.
    """
    if training.optimizer != "muon":
        return 0.0
    time = 0.0
    for pool in matrix_pools(model, plan):
        shared = busiest_rank(pool.shapes, pool.ranks).shapes if plan.zero_stage else pool.shapes
        time += newton_schulz_time(shared, rank)
    return time
