"""The times of a job, from an access to memory to the whole run."""

from dataclasses import dataclass
from math import log10

from engine.catalog.constants import COMMON, LOAD
from engine.catalog.transports import INFINIBAND, LAUNCH, NVLINK
from engine.core.units import Bytes, Ratio, Seconds, Tokens
from engine.formulas.goodput import daly_interval, job_mtbf
from engine.formulas.operations import layer_gemms, local_tokens
from engine.formulas.send_time import send_time
from engine.formulas.transfer_time import scatter_or_gather_time
from engine.run.parallelism import num_microbatches, sharding_ranks
from engine.run.run import Run
from engine.simulate.layer.device_model import Rank, group_of, rank_of
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.layer.layer_time import LayerTime, kernels_per_layer, layer_time
from engine.simulate.layer.product_time import product_times
from engine.simulate.step.sharding_time import rank_weights
from engine.simulate.step.step_time import StepTime

RESTART: Seconds = 600.0
# How often each happens in a step on one GPU.
_ONCE = ("optimizer", "gradients", "bubble", "step")


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """What a run is besides its steps: tokens, how it saves, how often one GPU fails."""

    tokens: Tokens
    checkpoint: Seconds
    gpu_mtbf: Seconds


def layers_of(run: Run) -> int:
    """Return the layers of a stage, rounded up."""
    return -(-run.model.num_layers // run.plan.pipeline_parallel)


def layer_of(run: Run, rank: Rank) -> LayerTime:
    """Return the times of one layer and one micro-batch, of the kind that most layers are."""
    sparse = bool(run.model.num_experts)
    return layer_time(run.model, run.plan, run.training, rank, sparse=sparse)


def event_times(run: Run, step: StepTime, length: Length) -> dict[str, Seconds]:
    """Return the time of every event; 0 where this job has none."""
    rank = rank_of(run.cluster, run.training)
    one, layers = layer_of(run, rank), layers_of(run)
    hidden = HALF * local_tokens(run.plan, run.training) * run.model.hidden_size
    mtbf = job_mtbf(length.gpu_mtbf, run.plan.world_size)
    gradients = gradients_alone(run, rank)
    tokens = run.training.global_batch_size * run.training.sequence_length
    return {
        "memory": LOAD,
        "nvlink": NVLINK.step_small,
        "gap": COMMON.kernel_gap,
        "launch": LAUNCH,
        "network": INFINIBAND.step,
        "gemm": largest_product(run, rank),
        "tensor": _tensor(run, rank, hidden),
        "send": _send(run, rank, hidden),
        "layer": one.forward,
        "optimizer": step.optimizer,
        "bucket": gradients / layers,
        "microbatch": layers * one.total,
        "gradients": gradients,
        "bubble": step.bubble,
        "step": step.total,
        "checkpoint": length.checkpoint,
        "restart": RESTART,
        "interval": daly_interval(length.checkpoint, mtbf),
        "mtbf": mtbf,
        "run": length.tokens / tokens * step.total,
    }


def event_counts(run: Run) -> dict[str, Ratio]:
    """Return how often events happen in a step on one GPU; what is not there does not belong."""
    rank = rank_of(run.cluster, run.training)
    rounds, layers = num_microbatches(run.plan, run.training), layers_of(run)
    return dict.fromkeys(_ONCE, 1.0) | {
        "gap": rounds * layers * kernels_per_layer(run.model, run.training, rank),
        "layer": rounds * layers,
        "gemm": rounds * layers,
        "bucket": layers,
        "microbatch": rounds,
        "send": 2 * rounds * run.plan.virtual_pipeline,
    }


def largest_product(run: Run, rank: Rank) -> Seconds:
    """Return the largest matrix product of a layer, forward."""
    sparse = bool(run.model.num_experts)
    gemms = layer_gemms(run.model, run.plan, run.training, sparse=sparse)
    return max(product_times(gemm, rank)[0] for gemm in gemms)


def _tensor(run: Run, rank: Rank, hidden: Bytes) -> Seconds:
    ranks = run.plan.tensor_parallel
    group = group_of(rank, ranks, 1, "tensor")
    return scatter_or_gather_time(hidden, ranks, group.nodes, group.bandwidth, group.network)


def _send(run: Run, rank: Rank, hidden: Bytes) -> Seconds:
    plan = run.plan
    if plan.pipeline_parallel == 1:
        return 0.0
    pair = group_of(rank, 2, plan.world_size // plan.pipeline_parallel, "pipeline")
    bandwidth = rank.scale_up if pair.nodes == 1 else rank.port
    return send_time(hidden / plan.tensor_parallel, bandwidth, pair.nodes, rank.network)


def gradients_alone(run: Run, rank: Rank) -> Seconds:
    """Return the reduction of all gradients of a GPU over its data-parallel ranks, alone."""
    ranks = sharding_ranks(run.plan)
    group = group_of(rank, ranks, run.plan.tensor_parallel, "data")
    size = rank.software.gradient * rank_weights(run.model, run.plan).common
    ends = (ranks, group.nodes, group.bandwidth, group.network)
    return scatter_or_gather_time(size, *ends, "reduce_scatter")


def decades(low: Seconds, high: Seconds) -> Ratio:
    """Return the orders of magnitude between two times."""
    return log10(high / low)
