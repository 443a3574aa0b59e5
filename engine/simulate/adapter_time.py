"""How long the low-rank adapters of a layer take, beside the frozen products."""

from engine.basis.units import Count, Ratio, Seconds
from engine.catalog.models import Model
from engine.formulas.compute import matmul_time
from engine.formulas.operations import Gemm, layer_gemms
from engine.run.parallelism import Plan, Training
from engine.simulate.layer_exchange import HALF
from engine.simulate.product_time import GROUPED, as_launched
from engine.simulate.rank import Rank

# Kernels of an adapter: products forward and backward, and between them the scale, the sum with the
# frozen result, the scale again, and the sum of both paths' gradients of the input.
PRODUCTS = (2, 4)
ASIDE = (2, 2)
# How often these go over the result, forward and backward, and over the input, backward. Compiled,
# each is part of the operator beside it, which reads or writes one tensor more.
SWEPT, SWEPT_COMPILED = (5, 2, 3), (1, 1, 1)


def adapter_times(
    model: Model, plan: Plan, training: Training, rank: Rank, *, sparse: bool
) -> tuple[Seconds, Seconds]:
    """Return the time of a layer's adapters forward and backward: y = W x + s B (A x).

    Each linear layer of the blocks has one, routed experts and the router have none. The products
    with A and B are thin: each takes as long as its tiles or its bytes do, whichever is longer.
    What goes over the whole result, and the sum of two gradients of the input, are operators of
    their own.

    Source: Hu et al. 2021 for what is computed; PyTorch's operators, and what its compiler fuses
    with neighbors (torch/_inductor/fx_passes/post_grad.py: a sum of products whose users are
    pointwise stays apart from them), for how often it is read. Limit: no dropout.
    """
    forward = backward = 0.0
    adapter, compiled = training.lora_rank, training.compiled
    there, back, summed = SWEPT_COMPILED if compiled else SWEPT
    kernels = PRODUCTS if compiled else tuple(map(sum, zip(PRODUCTS, ASIDE, strict=True)))
    gaps = tuple(count * rank.common.kernel_gap for count in kernels)
    gemms = layer_gemms(model, plan, training, sparse=sparse)
    for gemm in as_launched(gemms, model, plan, rank):
        if gemm.name in GROUPED or gemm.name == "router":
            continue
        rows, columns, inner = gemm.m, gemm.n, gemm.k
        once = HALF * rows * gemm.count / rank.memory
        forward += (
            _thin(gemm, rank, (rows, adapter, inner))
            + _thin(gemm, rank, (rows, columns, adapter))
            + there * columns * once
            + gaps[0]
        )
        backward += (
            _thin(gemm, rank, (rows, adapter, columns))
            + _thin(gemm, rank, (columns, adapter, rows))
            + _thin(gemm, rank, (rows, inner, adapter))
            + _thin(gemm, rank, (adapter, inner, rows))
            + (back * columns + summed * inner) * once
            + gaps[1]
        )
    return forward, backward


def _thin(gemm: Gemm, rank: Rank, shape: tuple[Ratio, Ratio, Count | Ratio]) -> Seconds:
    """Return the time of a product [m, k] x [k, n], one side of which is as thin as an adapter."""
    rows, columns, inner = shape
    size = HALF * gemm.count * (rows * inner + inner * columns + rows * columns)
    tiles = matmul_time(rows, columns, inner, gemm.count, rank.matmul, rank.sms, rank.fill)
    return max(tiles, size / rank.memory)
