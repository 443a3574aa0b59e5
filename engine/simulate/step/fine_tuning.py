"""Fine-tuning on one GPU: memory at its two fullest moments and the time of a step, by method.

Passes and activations are those of `engine.simulate.memory.memory` and
`engine.simulate.step.step_time`; a method changes what is kept for each parameter, what the update
reads and writes, and what crosses to the host.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.catalog.accelerators import Gpu
from engine.catalog.hosts import CPU_ADAM
from engine.catalog.models import Model
from engine.catalog.reader_constants import OwnConstants
from engine.core.units import Bytes, Count, Parameters, Seconds, Tokens
from engine.formulas.activations import HALF
from engine.formulas.offload import host_update_time, moving_time
from engine.formulas.parameters import embedding_parameters, total_parameters
from engine.formulas.states import StateBytes, state_bytes
from engine.run.parallelism import Cluster, Plan, Recompute, Training
from engine.run.software import SOFTWARE
from engine.simulate.layer.adapters import Trained, adapter_memory
from engine.simulate.memory.allocator import Memory
from engine.simulate.step.step_time import step_time

# bitsandbytes: one byte for each of two moments, and a scale of 4 bytes for 256 values of each.
EIGHT_BIT: Bytes = 2 * (1 + 4 / 256)
# Adam in bf16 throughout: parameter, gradient and two moments of 2 bytes. Its update reads the four
# and the gradient's norm, and writes three (8 + 2 + 6); one kernel per operation makes 18 passes.
_BF16 = StateBytes(parameter=HALF, gradient=HALF, optimizer=2 * HALF)
_BF16_FUSED, _BF16_FOREACH = 8 * HALF, 19 * HALF
# Parameter and gradient in bf16, both moments in 8 bits: 2 + 2 + 2 read, 2 for the norm, 4 written.
_EIGHT_BIT_UPDATE: Bytes = 12.0
# ZeRO-Offload keeps a copy, two moments and the gradient in single precision (Ren et al. 2021).
_ON_HOST: Bytes = 16.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to fine-tune a model on one GPU.

    Attributes:
        name: in words.
        states: bytes kept on the GPU for each parameter.
        host: bytes kept in the host's memory for each parameter.
        update: bytes that the update reads and writes in the GPU's memory for each parameter.
        foreach: likewise with one kernel per operation; 0: the method has no such form.
        temporary: bytes that this form holds at the update for each parameter.
        moved: bytes that cross to or from the host in each step for each parameter.
        in_backward: each gradient is used and freed as soon as it is complete.
        on_host: the host's processors update the parameters.
        trained: "full", or adapters.
    """

    name: str
    states: StateBytes
    update: Bytes
    host: Bytes = 0.0
    foreach: Bytes = 0.0
    temporary: Bytes = 0.0
    moved: Bytes = 0.0
    in_backward: bool = False
    on_host: bool = False
    trained: Trained = "full"


_TRAINING = Training(micro_batch_size=1, global_batch_size=1, sequence_length=1, framework="fsdp")
_SINGLE = state_bytes(_TRAINING)
_NONE = StateBytes(parameter=0.0, gradient=0.0, optimizer=0.0)
_HALVES = replace(_BF16, optimizer=0.0)

METHODS: Mapping[str, Method] = {
    "fp32": Method(
        name="Adam, states in fp32",
        states=_SINGLE,
        update=SOFTWARE["fsdp"].optimizer,
        foreach=SOFTWARE["fsdp"].optimizer_unfused,
        temporary=_SINGLE.optimizer / 2,
    ),
    "bf16": Method(
        name="Adam, all in bf16",
        states=_BF16,
        update=_BF16_FUSED,
        foreach=_BF16_FOREACH,
        temporary=_BF16.optimizer / 2,
    ),
    "8bit": Method(
        name="8-bit Adam",
        states=replace(_BF16, optimizer=EIGHT_BIT),
        update=_EIGHT_BIT_UPDATE,
    ),
    "paged": Method(
        name="8-bit Adam, paged",
        states=_HALVES,
        host=EIGHT_BIT,
        update=_EIGHT_BIT_UPDATE,
        moved=2 * EIGHT_BIT,
    ),
    "backward": Method(
        name="8-bit Adam in the backward pass",
        states=replace(_BF16, optimizer=EIGHT_BIT),
        update=_EIGHT_BIT_UPDATE,
        in_backward=True,
    ),
    "paged_backward": Method(
        name="8-bit Adam, paged, in the backward pass",
        states=_HALVES,
        host=EIGHT_BIT,
        update=_EIGHT_BIT_UPDATE,
        moved=2 * EIGHT_BIT,
        in_backward=True,
    ),
    "offload": Method(
        name="Adam on the host (ZeRO-Offload)",
        states=_HALVES,
        host=_ON_HOST,
        update=0.0,
        moved=2 * HALF,
        in_backward=True,
        on_host=True,
    ),
    "lora": Method(name="LoRA", states=_NONE, update=0.0, trained="lora"),
    "qlora": Method(name="QLoRA", states=_NONE, update=0.0, trained="qlora"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FineTuningJob:
    """A fine-tuning job on one GPU.

    Attributes:
        sequences: of a step, each a micro-batch.
        lora_rank: of adapters, where a method has them.
        fused: Adam is one kernel; otherwise one kernel per operation for all tensors (foreach).
        own_constants: constants that were measured on the GPU, in place of the catalog's.
    """

    model: Model
    gpu: Gpu
    sequence_length: Tokens
    sequences: Count
    recompute: Recompute
    lora_rank: Count
    fused: bool
    own_constants: OwnConstants | None = None

    @property
    def tokens(self) -> Tokens:
        """Tokens of a step."""
        return self.sequence_length * self.sequences


@dataclass(frozen=True, slots=True, kw_only=True)
class FineTuning:
    """Memory and time of a method.

    Attributes:
        passes: memory at the fullest moment of the passes.
        updating: memory at the update.
        host: bytes in the host's memory.
        computing: forward and backward passes, all micro-batches.
        update: reading and writing the states in the GPU's memory.
        moving: crossing to the host and back, one direction after the other.
        on_host: update by the host's processors.
    """

    passes: Memory
    updating: Memory
    host: Bytes
    computing: Seconds
    update: Seconds
    moving: Seconds
    on_host: Seconds

    @property
    def fullest(self) -> Memory:
        """Memory at the fuller of the two moments."""
        return max(self.passes, self.updating, key=lambda memory: memory.total)

    @property
    def step(self) -> Seconds:
        """Step if nothing hides behind anything else."""
        return self.computing + self.update + self.moving + self.on_host


def fine_tuning(job: FineTuningJob, method: Method) -> FineTuning:
    """Return memory and time of a method.

    Adapters are those of all linear layers. The update takes the time of the step's Adam in
    proportion to the bytes that it moves. Limits:
    paged states count as if all of them were on the host, and move there and back in each step at
    the link's rate; nothing overlaps.
    """
    # Adapters are trained without FSDP, whose units would copy frozen weights before each use.
    stage = 3 if method.trained == "full" else 0
    training, plan = _training(job, method), Plan(world_size=1, zero_stage=stage)
    memory = adapter_memory(job.model, plan, training, method.trained, trapped=False)
    size = total_parameters(job.model)
    if method.trained == "full":
        memory = _with_states(memory, job.model, method, size)
    step = step_time(job.model, _alone(job), plan, training)
    each = method.update if job.fused or not method.foreach else method.foreach
    temporary = 0.0 if job.fused else method.temporary * size
    return FineTuning(
        passes=memory,
        updating=replace(memory, activations=temporary),
        host=method.host * size,
        computing=step.total - step.optimizer,
        update=step.optimizer * each / SOFTWARE["fsdp"].optimizer,
        moving=moving_time(method.moved * size, 1, job.gpu.pcie),
        on_host=(
            host_update_time(size, CPU_ADAM.parameters, CPU_ADAM.time) if method.on_host else 0.0
        ),
    )


def _training(job: FineTuningJob, method: Method) -> Training:
    return Training(
        micro_batch_size=1,
        global_batch_size=job.sequences,
        sequence_length=int(job.sequence_length),
        recompute=job.recompute,
        framework="fsdp",
        lora_rank=0 if method.trained == "full" else job.lora_rank,
        lora_layers="all",
        nf4_weights=method.trained == "qlora",
    )


def _alone(job: FineTuningJob) -> Cluster:
    """Return a machine with one GPU; nothing crosses its port."""
    gpu = job.gpu
    return Cluster(
        gpu=gpu,
        gpus_per_node=1,
        nics_per_node=1,
        nic_bandwidth=gpu.pcie,
        own_constants=job.own_constants,
    )


def _with_states(memory: Memory, model: Model, method: Method, size: Parameters) -> Memory:
    """Return the memory with the states of a method.

    Of gradients that are used at once, the largest tensor's exists: that of the embedding. Only
    FSDP in single precision casts its weights into buffers for the passes.
    """
    states = method.states
    largest = embedding_parameters(model) if method.in_backward else size
    return replace(
        memory,
        parameters=states.parameter * size,
        gradients=states.gradient * largest,
        optimizer=states.optimizer * size,
        buffers=memory.buffers if states == _SINGLE else 0.0,
    )
