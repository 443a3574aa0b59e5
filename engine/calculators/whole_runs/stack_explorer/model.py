"""The job behind the explorer: its run, its estimate, and the time of every event on the ruler."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log10
from typing import Any

from engine.basis.text import Text
from engine.basis.units import Bytes, Count, Money, Seconds, Share, TokenRate
from engine.calculators.whole_runs.stack_explorer.inputs import Inputs, shared
from engine.catalog.constants import COMMON, LOAD
from engine.catalog.transports import INFINIBAND, LAUNCH, NVLINK
from engine.estimate import estimate
from engine.form.levers import inputs as _levers_inputs
from engine.form.levers import model as _levers_model
from engine.formulas.goodput import daly_interval, job_mtbf
from engine.formulas.operations import layer_gemms, local_tokens
from engine.formulas.transfer_time import scatter_or_gather_time, send_time
from engine.run.file import Run
from engine.run.parallelism import num_microbatches, sharding_ranks
from engine.simulate.layer_exchange import HALF
from engine.simulate.layer_time import LayerTime, layer_time, product_times
from engine.simulate.rank import Rank, group_of, rank_of
from engine.simulate.sharding_time import rank_weights
from engine.simulate.step_time import StepTime, step_time

RESTART: Seconds = 600.0
BILLION = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The job, whatever the reader looks at.

    Attributes:
        run: model, cluster, plan and training.
        changes: what had to change for the plan to be possible.
        found: its estimate.
        rank: rates of a GPU.
        layer: times of one layer and one micro-batch.
        levers: what each change would give.
        variants: (key, name, step) with nothing overlapped, gradients, tensor parallelism too.
    """

    run: Run
    changes: tuple[Text, ...]
    found: Mapping[str, Any]
    rank: Rank
    layer: LayerTime
    levers: _levers_model.Job
    variants: tuple[tuple[str, str, StepTime], ...]

    @property
    def step(self) -> Seconds:
        """One step."""
        return float(self.found["step_time"])

    @property
    def rate(self) -> TokenRate:
        """Tokens per second of all GPUs."""
        return float(self.found["tokens_per_second_per_gpu"]) * self.run.plan.world_size

    @property
    def exposed(self) -> Share:
        """Share of the step that waits for communication."""
        return self.levers.exposed_share

    @property
    def layers(self) -> Count:
        """Layers of a stage, rounded up."""
        return -(-self.run.model.num_layers // self.run.plan.pipeline_parallel)

    @property
    def microbatches(self) -> Count:
        """Micro-batches of a pipeline in a step."""
        return num_microbatches(self.run.plan, self.run.training)


def job(inputs: Inputs) -> Job:
    """Return the job; moving along the ruler does not compute it again."""
    return _job(shared(inputs))


@lru_cache(maxsize=8)
def _job(inputs: _levers_inputs.Inputs) -> Job:
    levers = _levers_model.job(inputs)
    run = levers.run
    rank = rank_of(run.cluster, run.training)
    sparse = bool(run.model.num_experts)
    return Job(
        run=run,
        changes=levers.changes,
        found=estimate(run),
        rank=rank,
        layer=layer_time(run.model, run.plan, run.training, rank, sparse=sparse),
        levers=levers,
        variants=_variants(run),
    )


def _variants(run: Run) -> tuple[tuple[str, str, StepTime], ...]:
    settings = (
        ("nothing", "nothing overlapped", False, False),
        ("gradients", "gradients overlapped (the job)", True, False),
        ("both", "tensor parallelism overlapped too", True, True),
    )
    found = []
    for key, label, gradients, tensor in settings:
        training = replace(
            run.training, overlap_gradient_reduce=gradients, overlap_tensor_parallel=tensor
        )
        found.append((key, label, step_time(run.model, run.cluster, run.plan, training)))
    return tuple(found)


def cost(inputs: Inputs, found: Job) -> Money:
    """Return what a billion tokens cost while steps run."""
    return BILLION * found.run.plan.world_size * inputs.price / found.rate


def times(inputs: Inputs, found: Job) -> dict[str, Seconds]:
    """Return the time of every event; 0 where this job has none."""
    run = found.run
    hidden = HALF * local_tokens(run.plan, run.training) * run.model.hidden_size
    mtbf = job_mtbf(inputs.gpu_mtbf, run.plan.world_size)
    part = found.found["time"]
    one = found.layer
    return {
        "memory": LOAD,
        "nvlink": NVLINK.step_small,
        "gap": COMMON.kernel_gap,
        "launch": LAUNCH,
        "network": INFINIBAND.step,
        "gemm": _largest_product(found),
        "tensor": _tensor(found, hidden),
        "send": _send(found, hidden),
        "layer": one.forward,
        "optimizer": part["optimizer"],
        "bucket": _gradients(found) / found.layers,
        "microbatch": found.layers * one.total,
        "gradients": _gradients(found),
        "bubble": part["bubble"],
        "step": found.step,
        "checkpoint": inputs.checkpoint,
        "restart": RESTART,
        "interval": daly_interval(inputs.checkpoint, mtbf),
        "mtbf": mtbf,
        "run": inputs.tokens / found.rate,
    }


def _largest_product(found: Job) -> Seconds:
    run = found.run
    sparse = bool(run.model.num_experts)
    gemms = layer_gemms(run.model, run.plan, run.training, sparse=sparse)
    return max(product_times(gemm, found.rank)[0] for gemm in gemms)


def _tensor(found: Job, hidden: Bytes) -> Seconds:
    ranks = found.run.plan.tensor_parallel
    group = group_of(found.rank, ranks, 1, "tensor")
    return scatter_or_gather_time(hidden, ranks, group.nodes, group.bandwidth)


def _send(found: Job, hidden: Bytes) -> Seconds:
    plan, rank = found.run.plan, found.rank
    if plan.pipeline_parallel == 1:
        return 0.0
    pair = group_of(rank, 2, plan.world_size // plan.pipeline_parallel, "pipeline")
    bandwidth = rank.scale_up if pair.nodes == 1 else rank.port
    return send_time(hidden / plan.tensor_parallel, bandwidth, pair.nodes)


def _gradients(found: Job) -> Seconds:
    """Return the reduction of all gradients of a GPU over its data-parallel ranks, alone."""
    run, rank = found.run, found.rank
    ranks = sharding_ranks(run.plan)
    group = group_of(rank, ranks, run.plan.tensor_parallel, "data")
    size = rank.software.gradient * rank_weights(run.model, run.plan).common
    return scatter_or_gather_time(size, ranks, group.nodes, group.bandwidth)


def decades(low: Seconds, high: Seconds) -> float:
    """Return the orders of magnitude between two times."""
    return log10(high / low)
