"""The times of a job, from an access to memory to the whole run."""

from dataclasses import dataclass
from math import log10

from engine.catalog.constants import COMMON, LOAD
from engine.catalog.models import commonest_kind
from engine.catalog.transports import INFINIBAND, LAUNCH, NVLINK
from engine.core.units import Bytes, Ratio, Seconds, Tokens
from engine.formulas.goodput import daly_interval, job_mtbf
from engine.formulas.job import time_of_steps
from engine.formulas.operations import layer_gemms, local_tokens
from engine.formulas.send_time import send_time
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.run.parallelism import num_microbatches, sharding_ranks
from engine.run.run import Run
from engine.run.software import gradient_bytes
from engine.simulate.layer.device_model import RankRates, rank_group, rank_rates
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.layer.layer_time import LayerTime, kernels_per_layer, layer_time
from engine.simulate.layer.product_time import product_times
from engine.simulate.step.sharding_time import rank_weights
from engine.simulate.step.step_time import StepTime

RESTART: Seconds = 600.0
# How often each happens in a step on one GPU.
_ONCE = ("optimizer", "gradients", "bubble", "step")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLength:
    """Tokens of a run, checkpoint time and MTBF of one GPU."""

    tokens: Tokens
    checkpoint: Seconds
    gpu_mtbf: Seconds


def layers_per_stage(run: Run) -> int:
    """Return the layers of a stage, rounded up."""
    return -(-run.model.num_layers // run.plan.pipeline_parallel)


def typical_layer_time(run: Run, rank: RankRates) -> LayerTime:
    """Return the times of a layer of the most frequent kind for one micro-batch."""
    model = commonest_kind(run.model)
    sparse = bool(model.num_experts)
    return layer_time(model, run.plan, run.training, rank, sparse=sparse)


def event_times(run: Run, step: StepTime, length: RunLength) -> dict[str, Seconds]:
    """Return the time of every event; 0 where this job has none."""
    rank = rank_rates(run.cluster, run.training)
    layer, layers = typical_layer_time(run, rank), layers_per_stage(run)
    hidden = HALF * local_tokens(run.plan, run.training) * run.model.hidden_size
    mtbf = job_mtbf(length.gpu_mtbf, run.plan.world_size)
    gradients = gradient_reduction_time(run, rank)
    return {
        "memory": LOAD,
        "nvlink": NVLINK.step_small,
        "gap": COMMON.kernel_gap,
        "launch": LAUNCH,
        "network": INFINIBAND.step,
        "gemm": largest_product_time(run, rank),
        "tensor": _tensor_gather_time(run, rank, hidden),
        "send": _send_to_next_stage_time(run, rank, hidden),
        "layer": layer.forward,
        "optimizer": step.optimizer,
        "bucket": gradients / layers,
        "microbatch": layers * layer.total,
        "gradients": gradients,
        "bubble": step.bubble,
        "step": step.total,
        "checkpoint": length.checkpoint,
        "restart": RESTART,
        "interval": daly_interval(length.checkpoint, mtbf),
        "mtbf": mtbf,
        "run": time_of_steps(
            length.tokens, run.training.global_batch_size, run.training.sequence_length, step.total
        ),
    }


def event_counts(run: Run) -> dict[str, Ratio]:
    """Return the number of events per step on one GPU; others do not happen within a step."""
    rank = rank_rates(run.cluster, run.training)
    rounds, layers = num_microbatches(run.plan, run.training), layers_per_stage(run)
    return dict.fromkeys(_ONCE, 1.0) | {
        "gap": rounds * layers * kernels_per_layer(run.model, run.training, rank),
        "layer": rounds * layers,
        "gemm": rounds * layers,
        "bucket": layers,
        "microbatch": rounds,
        "send": 2 * rounds * run.plan.virtual_pipeline,
    }


def largest_product_time(run: Run, rank: RankRates) -> Seconds:
    """Return the time of the largest matrix product of a layer, forward."""
    model = commonest_kind(run.model)
    sparse = bool(model.num_experts)
    gemms = layer_gemms(model, run.plan, run.training, sparse=sparse)
    return max(product_times(gemm, rank)[0] for gemm in gemms)


def _tensor_gather_time(run: Run, rank: RankRates, hidden: Bytes) -> Seconds:
    ranks = run.plan.tensor_parallel
    group = rank_group(rank, ranks, 1, "tensor")
    return scatter_or_gather_time(hidden, ranks, group.nodes, group.bandwidth, group.network)


def _send_to_next_stage_time(run: Run, rank: RankRates, hidden: Bytes) -> Seconds:
    plan = run.plan
    if plan.pipeline_parallel == 1:
        return 0.0
    pair = rank_group(rank, 2, plan.world_size // plan.pipeline_parallel, "pipeline")
    bandwidth = rank.scale_up if pair.nodes == 1 else rank.port
    return send_time(hidden / plan.tensor_parallel, bandwidth, pair.nodes, rank.network)


def gradient_reduction_time(run: Run, rank: RankRates) -> Seconds:
    """Return the isolated time to reduce-scatter all gradients of a GPU."""
    ranks = sharding_ranks(run.plan)
    group = rank_group(rank, ranks, run.plan.tensor_parallel, "data")
    size = gradient_bytes(run.training, rank.software) * rank_weights(run.model, run.plan).common
    link = (ranks, group.nodes, group.bandwidth, group.network)
    return scatter_or_gather_time(size, *link, "reduce_scatter")


def decades(low: Seconds, high: Seconds) -> Ratio:
    """Return the orders of magnitude between two times."""
    return log10(high / low)
