"""Gradient accumulation: memory, traffic and token rate of each scheme."""

from dataclasses import dataclass

from engine.catalog.models import Model
from engine.core.units import Bytes, Count, TokenRate
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.parameters import total_parameters
from engine.formulas.volumes import gradient_passes, parameter_passes
from engine.run.parallelism import Cluster, Framework, Plan, Training
from engine.run.run import Run
from engine.simulate.memory.memory import rank_memory
from engine.simulate.step.step_time import step_time

GRADIENT: Bytes = 4.0  # summed in single precision
PARAMETER: Bytes = 2.0

# Scheme -> ZeRO stage and software whose memory and step the engine models.
_SETTINGS: dict[str, tuple[Count, Framework]] = {
    "ddp_sync": (0, "megatron"),
    "ddp": (0, "megatron"),
    "zero1": (1, "megatron"),
    "zero2": (2, "deepspeed"),
    "fsdp": (3, "fsdp"),
    "fsdp_once": (3, "fsdp"),
    "fsdp_keep": (2, "fsdp"),
}

# Schemes that the model of all pages has no time for -> the one whose time they get.
TIMED_AS = {"ddp_sync": "no_sync", "fsdp_once": "FSDP as it comes", "fsdp_keep": "ZeRO-2"}


def accumulated_passes(scheme: str, num_microbatches: Count) -> tuple[Count, Count]:
    """Return the ring passes of gradients and parameters in a step of micro-batches.

    Args:
        scheme: "ddp_sync" reduces after every micro-batch, "ddp" after the last (no_sync); "zero1"
            and "zero2" as `gradient_passes`; "fsdp" gathers forward and backward and reduces every
            micro-batch; "fsdp_once" reduces after the last; "fsdp_keep" also gathers just once.
        num_microbatches: of a step.
    """
    g = num_microbatches
    passes = {
        "ddp_sync": (2 * g, 0),
        "ddp": (2, 0),
        "zero1": (gradient_passes(1, g), parameter_passes(1, g)),
        "zero2": (gradient_passes(2, g), parameter_passes(2, g)),
        "fsdp": (gradient_passes(3, g), parameter_passes(3, g)),
        "fsdp_once": (1, parameter_passes(3, g)),
        "fsdp_keep": (1, 1),
    }
    return passes[scheme]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulationMemory:
    """Memory of the fullest GPU in a step.

    Attributes:
        states: parameters, gradients, optimizer.
        buffers: of communication, and the reserve.
        activations: of one micro-batch.
    """

    states: Bytes
    buffers: Bytes
    activations: Bytes

    @property
    def total(self) -> Bytes:
        """Total memory."""
        return self.states + self.buffers + self.activations


@dataclass(frozen=True, slots=True, kw_only=True)
class AccumulationJob:
    """A data-parallel job with gradient accumulation.

    Attributes:
        model: its shape.
        cluster: its machines.
        ranks: of data parallelism, one per GPU.
        sequence_length: of every sequence.
        batch: sequences of a micro-batch.
        count: micro-batches of a step.
        scheme: as in `accumulated_passes`.
    """

    model: Model
    cluster: Cluster
    ranks: Count
    sequence_length: Count
    batch: Count
    count: Count
    scheme: str


def accumulation_bytes_sent(job: AccumulationJob) -> Bytes:
    """Return the bytes that each GPU sends per step, with ring collectives."""
    parameters = total_parameters(job.model)
    reductions, gathers = accumulated_passes(job.scheme, job.count)
    ring_buffer = reductions * GRADIENT * parameters + gathers * PARAMETER * parameters
    return ring_bytes_sent(ring_buffer, job.ranks) / 2


def _plan_and_training(job: AccumulationJob, batch: Count, count: Count) -> tuple[Plan, Training]:
    stage, framework = _SETTINGS[job.scheme]
    training = Training(
        micro_batch_size=batch,
        global_batch_size=batch * count * job.ranks,
        sequence_length=job.sequence_length,
        framework=framework,
        recompute="selective",
    )
    return Plan(world_size=job.ranks, zero_stage=stage), training


def accumulation_memory(job: AccumulationJob, *, at_once: bool = False) -> AccumulationMemory:
    """Return the memory of the fullest GPU; `at_once`: all micro-batches run as one."""
    batch = job.batch * job.count if at_once else job.batch
    plan, training = _plan_and_training(job, batch, 1)
    peak = rank_memory(job.model, plan, training)
    states = peak.parameters + peak.gradients + peak.optimizer
    if job.scheme in ("fsdp_once", "fsdp_keep") and not at_once and job.count > 1:
        # What is not reduced yet is whole on every GPU.
        states += GRADIENT * total_parameters(job.model) * (1 - 1 / job.ranks)
    return AccumulationMemory(
        states=states, buffers=peak.buffers + peak.reserve, activations=peak.activations
    )


def accumulation_run(job: AccumulationJob) -> Run:
    """Return the job as a run."""
    plan, training = _plan_and_training(job, job.batch, job.count)
    return Run(model=job.model, cluster=job.cluster, plan=plan, training=training)


def accumulation_token_rate(job: AccumulationJob) -> TokenRate:
    """Return the tokens per second per GPU; gathers of FSDP as `step_time` counts them."""
    run = accumulation_run(job)
    time = step_time(run.model, run.cluster, run.plan, run.training).total
    return job.batch * job.count * job.sequence_length / time
