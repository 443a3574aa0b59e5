"""A step of several micro-batches: what each GPU holds, sends and how fast it is, by scheme."""

from dataclasses import dataclass

from engine.catalog.models import Model
from engine.core.units import Bytes, Count, TokenRate
from engine.formulas.communication import ring_bytes_sent
from engine.formulas.parameters import total_parameters
from engine.formulas.volumes import gradient_passes, parameter_passes
from engine.run.parallelism import Cluster, Framework, Plan, Training
from engine.run.run import Run
from engine.simulate.memory.memory import memory
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
    """Return how often gradients and parameters go around the ring in a step of micro-batches.

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
class Held:
    """What the fullest GPU holds in a step.

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
        """All of it."""
        return self.states + self.buffers + self.activations


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The job: a model on data-parallel GPUs.

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


def sent(step: Step) -> Bytes:
    """Return what each GPU sends in a step, by rings."""
    parameters = total_parameters(step.model)
    reductions, gathers = accumulated_passes(step.scheme, step.count)
    around = reductions * GRADIENT * parameters + gathers * PARAMETER * parameters
    return ring_bytes_sent(around, step.ranks) / 2


def _settings(step: Step, batch: Count, count: Count) -> tuple[Plan, Training]:
    stage, framework = _SETTINGS[step.scheme]
    training = Training(
        micro_batch_size=batch,
        global_batch_size=batch * count * step.ranks,
        sequence_length=step.sequence_length,
        framework=framework,
        recompute="selective",
    )
    return Plan(world_size=step.ranks, zero_stage=stage), training


def held(step: Step, *, at_once: bool = False) -> Held:
    """Return what the fullest GPU holds; `at_once`: all micro-batches run as one."""
    batch = step.batch * step.count if at_once else step.batch
    plan, training = _settings(step, batch, 1)
    found = memory(step.model, plan, training)
    states = found.parameters + found.gradients + found.optimizer
    if step.scheme in ("fsdp_once", "fsdp_keep") and not at_once and step.count > 1:
        # What is not reduced yet is whole on every GPU.
        states += GRADIENT * total_parameters(step.model) * (1 - 1 / step.ranks)
    return Held(states=states, buffers=found.buffers + found.reserve, activations=found.activations)


def run_of(step: Step) -> Run:
    """Return the job as a run."""
    plan, training = _settings(step, step.batch, step.count)
    return Run(model=step.model, cluster=step.cluster, plan=plan, training=training)


def speed(step: Step) -> TokenRate:
    """Return the tokens per second per GPU; gathers of FSDP as `step_time` counts them."""
    run = run_of(step)
    time = step_time(run.model, run.cluster, run.plan, run.training).total
    return step.batch * step.count * step.sequence_length / time
