"""Cost of DeepSpeed settings: states, buffers and exposed communication of one job."""

from dataclasses import dataclass, replace

from engine.catalog.models import MODELS
from engine.core.units import Bytes, Parameters, Seconds
from engine.formulas.states import MIXED_PRECISION, States, sharded_states
from engine.run.deepspeed_values import ZeroValues
from engine.simulate.data_parallel.fetched_step import FetchSettings, ReduceBuckets, fetched_step
from engine.simulate.data_parallel.gradient_buckets import registration_order
from engine.simulate.data_parallel.sharded_step import ShardedSetting, setting_run
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.step.sharding_time import data_parallel_exchange, data_parallel_time
from engine.simulate.step.stage_time import layer_costs
from engine.simulate.step.step_time import pipeline_cost

_FP32: Bytes = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepSpeedCost:
    """Memory of one GPU without activations, and exposed communication per step.

    Attributes:
        states: divided as the stage says.
        live: parameters that are gathered, at most; all of them below stage 3.
        bucket: of gradients.
        second_copy: the second copy of the parameters (hpZ).
        persistent: tensors that are never divided.
        exposed: communication with nothing computed beside it.
    """

    states: States
    live: Bytes
    bucket: Bytes
    second_copy: Bytes
    persistent: Bytes
    exposed: Seconds

    @property
    def buffers(self) -> Bytes:
        """Buffer bytes that the settings decide."""
        return self.live + self.bucket + self.second_copy + self.persistent


def smallest_matrix(model: str) -> Parameters:
    """Return the elements of the smallest matrix, an upper limit of the persistence threshold."""
    return min(
        tensor.parameters
        for tensor in registration_order(MODELS[model])
        if "norm" not in tensor.name
    )


def settings_cost(values: ZeroValues, setting: ShardedSetting) -> DeepSpeedCost:
    """Return the cost of DeepSpeed settings for a job of one micro-batch; `setting` is the job.

    Offload is not counted: the states are those of a GPU that keeps them. Bytes of hpZ are, its
    time is not.
    """
    ranks, stage = setting.ranks, values.stage
    total = sum(tensor.parameters for tensor in registration_order(MODELS[setting.model]))
    states = sharded_states(total, MIXED_PRECISION, stage, ranks)
    buckets = ReduceBuckets(
        size=values.elements("reduce_bucket_size"), overlap=values.switch("overlap_comm")
    )
    if values.whole_gradients:
        kept = replace(states, gradients=(HALF + _FP32) * total)
        return _replicated_cost(values, setting, total, kept)
    if stage < 3:
        return _replicated_cost(values, setting, total, states)
    settings = FetchSettings(
        prefetch=values.elements("stage3_prefetch_bucket_size"),
        live=values.elements("stage3_max_live_parameters"),
        reuse=values.elements("stage3_max_reuse_distance"),
        persistent=values.elements("stage3_param_persistence_threshold"),
    )
    step = fetched_step(setting, settings, buckets)
    second = values.count("zero_hpz_partition_size")
    return DeepSpeedCost(
        states=states,
        live=step.live,
        bucket=step.bucket,
        second_copy=HALF * total / second if second > 1 else 0.0,
        persistent=step.persistent,
        exposed=step.exposed,
    )


def _replicated_cost(
    values: ZeroValues, setting: ShardedSetting, total: Parameters, states: States
) -> DeepSpeedCost:
    """Return the cost of stages 0 to 2: buckets, and the gather of updated parameters.

    `BF16_Optimizer` adds gradients in 16 bits to whole ones in 32 and keeps both, as long as
    immediate_grad_update is off, its default. When the backward pass is over it all-reduces them in
    bf16, whatever overlap_comm says. Source: DeepSpeed 0.19.8, runtime/bf16_optimizer.py, and
    `buffered_allreduce_fallback` and `communication_data_type` of runtime/engine.py.
    """
    size = max(1.0, values.elements("reduce_bucket_size"))
    overlap = values.switch("overlap_comm") and not values.whole_gradients
    return DeepSpeedCost(
        states=states,
        live=0.0,
        # Two where one fills while the other is sent.
        bucket=HALF * size * (2 if overlap else 1),
        second_copy=0.0,
        persistent=0.0,
        exposed=_replicated_wait(values, setting, size, overlap=overlap),
    )


def _replicated_wait(
    values: ZeroValues, setting: ShardedSetting, bucket: Parameters, *, overlap: bool
) -> Seconds:
    """Return the exposed communication of the step model, with the buckets of a file.

    Where a file has it so, buckets are all-reduced also at stages 1 and 2.
    """
    run = setting_run(replace(setting, zero_stage=values.stage))
    plan, training = run.plan, replace(run.training, overlap_gradient_reduce=overlap)
    rank = rank_rates(run.cluster, training)
    rank = replace(rank, software=replace(rank.software, bucket=bucket))
    cost = pipeline_cost(run.model, plan, training, layer_costs(run.model, plan, training, rank))
    exchange = data_parallel_exchange(plan, training, rank, cost.weights)
    if (
        values.whole_gradients
        or values.switch("use_multi_rank_bucket_allreduce")
        or not values.switch("reduce_scatter")
    ):
        whole = data_parallel_exchange(replace(plan, zero_stage=0), training, rank, cost.weights)
        exchange = replace(exchange, scatter=whole.scatter, last_reduce=whole.last_reduce)
    forward, total = cost.slowest.forward, cost.slowest.total
    weights = cost.weights, exchange
    return data_parallel_time(run.model, plan, training, rank, weights, forward, total - forward)
