"""How long the low-rank adapters of a layer take, beside the frozen products."""

from engine.basis.units import Count, Ratio, Seconds
from engine.catalog.models import Model
from engine.formulas.compute import matmul_time
from engine.formulas.operations import Gemm, layer_gemms
from engine.run.parallelism import Plan, Training
from engine.simulate.layer_exchange import HALF
from engine.simulate.product_time import GROUPED, as_launched
from engine.simulate.rank import Rank

# Kernels forward: two products, the scale, the sum; compiled, scale and sum are one.
FORWARD, FORWARD_COMPILED = 4, 3
# Backward: the scale, four products, and the sum of both paths' gradients of the input.
BACKWARD = 6
# Passes of their operators over the result: scale (in, out) and sum (two in, one out).
SWEPT, SWEPT_COMPILED = 5, 3


def adapter_times(
    model: Model, plan: Plan, training: Training, rank: Rank, *, sparse: bool
) -> tuple[Seconds, Seconds]:
    """Return the time of a layer's adapters forward and backward: y = W x + s B (A x).

    Each linear layer of the blocks has one, routed experts and the router have none. The products
    with A and B are thin: each takes as long as its tiles or its bytes do, whichever is longer.
    What goes over the whole result, and the sum of two gradients of the input, are operators of
    their own.

    Source: Hu et al. 2021 for what is computed, PyTorch's operators for how often it is read.
    Limit: no dropout, and adapters that the software does not fuse with the frozen product.
    """
    forward = backward = 0.0
    adapter = training.lora_rank
    gemms = layer_gemms(model, plan, training, sparse=sparse)
    for gemm in as_launched(gemms, model, plan, rank):
        if gemm.name in GROUPED or gemm.name == "router":
            continue
        rows, columns, inner = gemm.m, gemm.n, gemm.k
        result, operand = (
            HALF * rows * gemm.count * size / rank.memory for size in (columns, inner)
        )
        forward += (
            _thin(gemm, rank, (rows, adapter, inner))
            + _thin(gemm, rank, (rows, columns, adapter))
            + (SWEPT_COMPILED if training.compiled else SWEPT) * result
            + (FORWARD_COMPILED if training.compiled else FORWARD) * rank.common.kernel_gap
        )
        backward += (
            _thin(gemm, rank, (rows, adapter, columns))
            + _thin(gemm, rank, (columns, adapter, rows))
            + _thin(gemm, rank, (rows, inner, adapter))
            + _thin(gemm, rank, (adapter, inner, rows))
            + 2 * result
            + 3 * operand
            + BACKWARD * rank.common.kernel_gap
        )
    return forward, backward


def _thin(gemm: Gemm, rank: Rank, shape: tuple[Ratio, Ratio, Count | Ratio]) -> Seconds:
    """Return the time of a product [m, k] x [k, n], one side of which is as thin as an adapter."""
    rows, columns, inner = shape
    size = HALF * gemm.count * (rows * inner + inner * columns + rows * columns)
    tiles = matmul_time(rows, columns, inner, gemm.count, rank.matmul, rank.sms, rank.fill)
    return max(tiles, size / rank.memory)
