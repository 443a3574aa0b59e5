"""What the settings of a DeepSpeed file cost: states, buffers and exposed time of one job."""

from dataclasses import dataclass

from engine.catalog.models import MODELS
from engine.core.units import Bytes, Parameters, Seconds, Share
from engine.formulas.states import MIXED_PRECISION, States, sharded_states
from engine.run.deepspeed_values import Values
from engine.simulate.data_parallel.fetched_step import Buckets, fetched_step
from engine.simulate.data_parallel.gradient_buckets import registered
from engine.simulate.data_parallel.parameter_fetch import Knobs
from engine.simulate.data_parallel.reduce_buckets import Job as BucketJob
from engine.simulate.data_parallel.reduce_buckets import reduced
from engine.simulate.overlap.overlap_job import Setting

_BF16: Bytes = 2.0
_COMPUTING: Share = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one GPU holds beside activations, and what it waits for in a step.

    Attributes:
        states: divided as the stage says.
        live: parameters that are gathered, at most; all of them below stage 3.
        bucket: of gradients.
        second: the second copy of the parameters (hpZ).
        persistent: tensors that are never divided.
        exposed: communication with nothing computed beside it.
    """

    states: States
    live: Bytes
    bucket: Bytes
    second: Bytes
    persistent: Bytes
    exposed: Seconds

    @property
    def buffers(self) -> Bytes:
        """What the settings decide."""
        return self.live + self.bucket + self.second + self.persistent


def smallest_matrix(model: str) -> Parameters:
    """Return the elements of the smallest matrix: what no threshold should reach."""
    return min(one.parameters for one in registered(MODELS[model]) if "norm" not in one.name)


def cost(values: Values, setting: Setting) -> Cost:
    """Return what the settings cost for a job of one micro-batch; `setting` is the job.

    Offload is not counted: the states are those of a GPU that keeps them. Bytes of hpZ are, its
    time is not.
    """
    ranks, stage = setting.data_parallel, values.stage
    total = sum(one.parameters for one in registered(MODELS[setting.model]))
    states = sharded_states(total, MIXED_PRECISION, stage, ranks)
    buckets = Buckets(
        size=values.elements("reduce_bucket_size"), overlap=values.switch("overlap_comm")
    )
    if stage < 3:
        return _replicated(values, setting, total, states)
    knobs = Knobs(
        prefetch=values.elements("stage3_prefetch_bucket_size"),
        live=values.elements("stage3_max_live_parameters"),
        reuse=values.elements("stage3_max_reuse_distance"),
        persistent=values.elements("stage3_param_persistence_threshold"),
    )
    step = fetched_step(setting, knobs, buckets)
    second = values.count("zero_hpz_partition_size")
    return Cost(
        states=states,
        live=step.live,
        bucket=step.bucket,
        second=_BF16 * total / second if second > 1 else 0.0,
        persistent=step.persistent,
        exposed=step.seen.exposed,
    )


def _replicated(values: Values, setting: Setting, total: Parameters, states: States) -> Cost:
    """Return the cost of stages 0 to 2: only the buckets, at 40 % MFU while computing."""
    ran = reduced(
        BucketJob(
            parameters=total,
            bucket=max(1.0, values.elements("reduce_bucket_size")),
            tokens=setting.tokens,
            utilization=_COMPUTING,
            gpu=setting.gpu,
            ranks=setting.data_parallel,
            port=setting.port,
            whole=values.stage == 0
            or values.switch("use_multi_rank_bucket_allreduce")
            or not values.switch("reduce_scatter"),
            overlap=values.switch("overlap_comm"),
            own=setting.own,
        )
    )
    return Cost(
        states=states,
        live=0.0,
        bucket=ran.buffers,
        second=0.0,
        persistent=0.0,
        exposed=ran.exposed,
    )
