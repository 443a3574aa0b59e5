"""Time of a layer's low-rank adapters, beside the frozen products."""

from functools import partial

from engine.catalog.models import Model
from engine.core.units import Count, Ratio, Seconds
from engine.formulas.compute import matmul_time
from engine.formulas.operations import Gemm, layer_gemms
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.device_model import RankRates
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.layer.product_time import GROUPED, launched_gemms

# Linear layers of the feed-forward part.
FEED_FORWARD = ("mlp_up", "mlp_down", "shared_up", "shared_down")
# Kernels forward and backward. Two and four are products; eager, the scale and the sum with the
# frozen result are kernels too, and backward the scale and the sum of both gradients of the input.
KERNELS, KERNELS_COMPILED = (4, 6), (2, 4)
# How often these go over the result, forward and backward, and over the input, backward. Compiled,
# each is part of the operator beside it, which reads or writes one tensor more.
SWEEPS, SWEEPS_COMPILED = (5, 2, 3), (1, 1, 1)


def adapter_times(
    model: Model, plan: Plan, training: Training, rank: RankRates, *, sparse: bool
) -> tuple[Seconds, Seconds]:
    """Return the time of a layer's adapters forward and backward: y = W x + s B (A x).

    The linear layers of the attention have one, those of the feed-forward part where `lora_layers`
    says so; routed experts and the router have none. The products
    with A and B are thin: each takes as long as its tiles or its bytes do, whichever is longer.
    What goes over the whole result, and the sum of two gradients of the input, are operators of
    their own.

    Source: Hu et al. 2021 for what is computed; PyTorch's operators, and what its compiler fuses
    with neighbors (torch/_inductor/fx_passes/post_grad.py: a sum of products whose users are
    pointwise stays apart from them), for how often it is read. Limit: no dropout.
    """
    forward = backward = 0.0
    adapter, compiled = training.lora_rank, training.compiled
    forward_sweeps, backward_sweeps, input_sweeps = SWEEPS_COMPILED if compiled else SWEEPS
    kernels = KERNELS_COMPILED if compiled else KERNELS
    gemms = layer_gemms(model, plan, training, sparse=sparse)
    frozen = {*GROUPED, "router", *(FEED_FORWARD if training.lora_layers == "attention" else ())}
    for gemm in launched_gemms(gemms, model, plan, rank):
        if gemm.name in frozen:
            continue
        rows, columns, inner = gemm.m, gemm.n, gemm.k
        sweep = HALF * rows * gemm.count / rank.memory
        forward_shapes = (rows, adapter, inner), (rows, columns, adapter)
        gradients = (rows, adapter, columns), (columns, adapter, rows)
        inputs = (rows, inner, adapter), (adapter, inner, rows)
        thin_time = partial(_thin_product_time, gemm, rank)
        forward += sum(map(thin_time, forward_shapes)) + forward_sweeps * columns * sweep
        backward += (
            sum(map(thin_time, gradients + inputs))
            + (backward_sweeps * columns + input_sweeps * inner) * sweep
        )
        forward += kernels[0] * rank.common.kernel_gap
        backward += kernels[1] * rank.common.kernel_gap
    return forward, backward


def _thin_product_time(
    gemm: Gemm, rank: RankRates, shape: tuple[Ratio, Ratio, Count | Ratio]
) -> Seconds:
    """Return the time of a product [m, k] x [k, n], one side of which is as thin as an adapter."""
    rows, columns, inner = shape
    size = HALF * gemm.count * (rows * inner + inner * columns + rows * columns)
    tiles = matmul_time(rows, columns, inner, gemm.count, rank.matmul, rank.sms, rank.fill)
    return max(tiles, size / rank.memory)
