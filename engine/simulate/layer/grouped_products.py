"""GPU utilization of grouped expert products, by rows per expert."""

from functools import lru_cache

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.reader_constants import parse_constants
from engine.core.units import Count, FlopRate, Seconds, Share
from engine.formulas.operations import MULTIPLY_ADD, Gemm
from engine.run.parallelism import Cluster, Training
from engine.simulate.layer.device_model import RankRates, rank_rates
from engine.simulate.layer.product_time import grouped_times, product_times

_RUN = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1)
_ADDED = 8.0  # bytes that the gradient of a weight moves; the forward pass moves none


@lru_cache(maxsize=64)
def gpu_rates(gpu: str, own_constants: str = "") -> RankRates:
    """Return the rates of one GPU in 16 bits; `own_constants` is what was measured on it."""
    cluster = Cluster(
        gpu=ACCELERATORS[gpu],
        gpus_per_node=8,
        nics_per_node=8,
        nic_bandwidth=5e10,
        own_constants=parse_constants(own_constants),
    )
    return rank_rates(cluster, _RUN)


def peak_rate(gpu: str) -> FlopRate:
    """Return the dense peak in 16 bits."""
    rates = ACCELERATORS[gpu].peak
    return rates.get("fp16") or rates["bf16"]


def grouped_time(
    rank: RankRates, rows: Count, shape: tuple[Count, Count], experts: Count
) -> Seconds:
    """Return the forward time of `experts` products [rows, inner] x [inner, columns].

    `shape` is (inner, columns). The same as in the step time of a plan.
    """
    gemm = Gemm(name="experts_up", m=rows, n=shape[1], k=shape[0], count=experts)
    return grouped_times(gemm, rank, product_times(gemm, rank), _ADDED, rank.common.expert_product)[
        0
    ]


def plain_time(rank: RankRates, rows: Count, shape: tuple[Count, Count]) -> Seconds:
    """Return the forward time of one product with `rows` rows."""
    gemm = Gemm(name="mlp_up", m=rows, n=shape[1], k=shape[0], count=1)
    return product_times(gemm, rank)[0]


def utilization(gpu: str, rows: Count, shape: tuple[Count, Count], time: Seconds) -> Share:
    """Return the utilization: operations of all rows over time and peak rate."""
    return MULTIPLY_ADD * rows * shape[0] * shape[1] / time / peak_rate(gpu)
