"""Time of one layer's matrix products on one rank, forward and for both gradients."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from engine.catalog.models import Model, head_size
from engine.core.record import record
from engine.core.units import Bytes, Count, FlopRate, Parameters, Ratio, Seconds
from engine.formulas.compute import grouped_matmul_time, matmul_time
from engine.formulas.operations import Gemm, layer_gemms
from engine.run.parallelism import Plan, Training, halves_gradients
from engine.simulate.layer.device_model import RankRates
from engine.simulate.layer.layer_exchange import HALF

# Products whose result only the residual addition needs.
LAST_PRODUCTS = ("mlp_down", "shared_down", "experts_down")
# Products that "modules" repeats.
UP_PROJECTIONS = ("query_up", "key_value_up")
GROUPED = ("experts_up", "experts_down")


@record
class LayerProducts:
    """Matrix products of a layer: times, and elements of inputs, results and weights.

    `named` are the forward times by name; `last` is that part of `forward` whose result only the
    residual addition needs, `up` that of the up-projections of latent attention; `apart` are the
    weights whose gradients a kernel of its own adds up, beside what the products hide of it.
    """

    forward: Seconds
    named: Mapping[str, Seconds]
    last: Seconds
    up: Seconds
    input_gradient: Seconds
    weight_gradient: Seconds
    read: Ratio
    written: Ratio
    weights: Parameters
    apart: Parameters


def product_times(gemm: Gemm, rank: RankRates, *, linear: bool = True) -> tuple[Seconds, ...]:
    """Return the time of a product forward, of its input gradient and of its weight gradient."""
    rate = rank.linear if linear else rank.matmul
    return _product_times(gemm.m, gemm.n, gemm.k, gemm.count, (rate, rank.sms, rank.fill))


@lru_cache(maxsize=4096)  # plans of one job have the same products again and again
def _product_times(
    rows: Ratio,
    columns: Ratio,
    inner: Ratio,
    count: Ratio,
    kernel: tuple[FlopRate, Count, Seconds],
) -> tuple[Seconds, ...]:
    return (
        matmul_time(rows, columns, inner, count, *kernel),
        matmul_time(rows, inner, columns, count, *kernel),
        matmul_time(columns, inner, rows, count, *kernel),
    )


def grouped_times(
    gemm: Gemm, rank: RankRates, times: tuple[Seconds, ...], gradient: Bytes, each: Seconds
) -> tuple[Seconds, ...]:
    """Return the times of experts' products, whose `times` are those of one kernel.

    `gradient` is how many bytes the product of a weight's gradient moves for it.
    """
    rows, columns, inner, count = gemm.m, gemm.n, gemm.k, gemm.count
    operand = 1.0 if rank.quantized else HALF
    read, written, weights = rows * inner, rows * columns, inner * columns
    sizes = (
        operand * (read + weights) + HALF * written,
        operand * (written + weights) + HALF * read,
        operand * (read + written) + gradient * weights,
    )
    return tuple(
        grouped_matmul_time(time, count * size, rank.memory, count, each)
        for time, size in zip(times, sizes, strict=True)
    )


def layer_products(
    model: Model, plan: Plan, training: Training, rank: RankRates, *, sparse: bool
) -> LayerProducts:
    """Return the times and elements of the products of a layer."""
    named: dict[str, Seconds] = {}
    forward = last = up = inputs = weights = read = written = parameters = apart = 0.0
    each = 0.0 if training.fused_experts else rank.common.expert_product
    # Megatron's products of weights' gradients add in place, others write what a kernel then adds.
    in_place = rank.software.adds_in_place
    gradient = HALF if not in_place else 4.0 if halves_gradients(training) else 8.0
    for gemm in launched_gemms(
        layer_gemms(model, plan, training, sparse=sparse), model, plan, rank
    ):
        grouped = gemm.name in GROUPED
        if grouped and rank.busiest > 1:
            gemm = replace(gemm, m=gemm.m * rank.busiest)
        times = product_times(gemm, rank, linear=gemm.name != "router")
        if grouped:
            times = grouped_times(gemm, rank, times, gradient, each)
        forward, inputs, weights = forward + times[0], inputs + times[1], weights + times[2]
        named[gemm.name] = named.get(gemm.name, 0.0) + times[0]
        if gemm.name in LAST_PRODUCTS:
            last += times[0]
        if gemm.name in UP_PROJECTIONS:
            up += times[0]
        read += gemm.m * gemm.k * gemm.count
        written += gemm.m * gemm.n * gemm.count
        parameters += gemm.n * gemm.k * gemm.count
        if not (grouped and in_place):
            apart += gemm.n * gemm.k * gemm.count
    return LayerProducts(
        forward=forward,
        named=named,
        last=last,
        up=up,
        input_gradient=inputs,
        # Low-rank adapters leave the weights as they are (Hu et al. 2021); their own are small.
        weight_gradient=0.0 if training.lora_rank else weights,
        read=read,
        written=written,
        weights=parameters,
        apart=0.0 if training.lora_rank else apart,
    )


def launched_gemms(
    gemms: tuple[Gemm, ...], model: Model, plan: Plan, rank: RankRates
) -> tuple[Gemm, ...]:
    """Return the products as launched: joint projections are split if not fused by the software."""
    if rank.software.fused_projections or model.mlp != "swiglu":
        return gemms
    launched: list[Gemm] = []
    for gemm in gemms:
        if gemm.name == "query_key_value":
            query = model.num_attention_heads * head_size(model) / plan.tensor_parallel
            key = (gemm.n - query) / 2
            launched += [
                _with_columns(gemm, query),
                _with_columns(gemm, key),
                _with_columns(gemm, key),
            ]
        elif gemm.name == "mlp_up":
            launched += [_with_columns(gemm, gemm.n / 2)] * 2
        else:
            launched.append(gemm)
    return tuple(launched)


def _with_columns(gemm: Gemm, columns: Ratio) -> Gemm:
    return Gemm(name=gemm.name, m=gemm.m, n=columns, k=gemm.k, count=gemm.count)
