"""Memory of a rank by part, what its process takes, and whether a GPU has room for that."""

from typing import Literal

from engine.catalog.constants import ALLOWANCES, KEPT_FREE
from engine.core.record import record
from engine.core.units import Bytes, Count, Share
from engine.formulas.batch import usable_memory
from engine.run.parallelism import Training, shards_all

# What only nvidia-smi counts.
OUTSIDE: Bytes = ALLOWANCES.context + ALLOWANCES.channels
Verdict = Literal["fits", "tight", "does not fit"]


@record
class Memory:
    """Memory of the fullest rank, by part.

    Attributes:
        parameters: parameters as the matrix products read them.
        gradients: gradients summed over the micro-batches.
        optimizer: full-precision copy and moments.
        activations: kept activations, and working memory of one layer at the peak.
        buffers: communication buffers: gathered parameters, buckets, tensors between stages.
        stage: pipeline stage of that rank.
        fragments: memory that the allocator holds beyond tensors, as a share of the tensors.
    """

    parameters: Bytes
    gradients: Bytes
    optimizer: Bytes
    activations: Bytes
    buffers: Bytes
    stage: Count
    fragments: Share

    @property
    def states(self) -> Bytes:
        """Parameters, gradients and optimizer."""
        return self.parameters + self.gradients + self.optimizer

    @property
    def tensors(self) -> Bytes:
        """Sum of all tensors of the job."""
        return self.states + self.activations + self.buffers

    @property
    def allocated(self) -> Bytes:
        """Tensors and workspaces, if all parts exist at the peak.

        Where they do not, `torch.cuda.max_memory_allocated` is
        `engine.simulate.memory.memory_moments`.
        """
        return self.tensors + ALLOWANCES.workspace

    @property
    def reserved(self) -> Bytes:
        """Bytes that the caching allocator holds: `torch.cuda.max_memory_reserved`.

        Free blocks that fit no request are what it holds beyond tensors: the share of
        `ALLOWANCES.fragments`, fitted to torchtitan's published peaks, less with one rank.
        """
        return self.allocated + self.fragments * self.tensors

    @property
    def total(self) -> Bytes:
        """Bytes of the process, as nvidia-smi shows them: reserved, CUDA context and NCCL."""
        return self.reserved + OUTSIDE

    @property
    def reserve(self) -> Bytes:
        """Bytes of the process beyond its tensors."""
        return self.total - self.tensors

    @property
    def least(self) -> Bytes:
        """Bytes of the process once the allocator has given back every block that is free."""
        return self.allocated + OUTSIDE


def fragment_share(training: Training, ranks: Count) -> Share:
    """Return the share of memory that the allocator holds beyond tensors.

    Beside adapters most tensors are activations, which come and go: one rank has as many pieces.
    """
    alone = ranks == 1 and not training.lora_rank
    return ALLOWANCES.fragments_alone if alone else ALLOWANCES.fragments


def reported_bytes(memory: Memory, training: Training) -> Bytes:
    """Return the peak as the framework's users report it.

    Megatron reports what tensors use; torchtitan what the allocator reserves; for DeepSpeed runs
    it was customary to read nvidia-smi, which counts the reserve, NCCL and the CUDA context, at
    that time with all kernels loaded.
    """
    if shards_all(training):
        return (1 + memory.fragments) * memory.tensors
    if training.framework == "deepspeed":
        outside = ALLOWANCES.loaded_context + ALLOWANCES.channels
        return (1 + memory.fragments) * memory.tensors + outside
    return memory.allocated


def usable_bytes(device: Bytes, kept_free: Share = KEPT_FREE) -> Bytes:
    """Return the bytes of a GPU that a process should fill at most.

    `device` is what programs can allocate (`Gpu.memory`), less than on the label. A share is kept
    free because predicted peaks err by some percent.
    """
    return usable_memory(device, kept_free)


@record
class MemoryFit:
    """Memory of a process beside the memory of its GPU.

    Attributes:
        needed: bytes of the process, its allocator undisturbed.
        least: bytes of the process once the allocator has given back its free blocks.
        usable: bytes that it should fill at most.
        device: bytes that programs can allocate on the GPU.
    """

    needed: Bytes
    least: Bytes
    usable: Bytes
    device: Bytes

    @property
    def verdict(self) -> Verdict:
        """Return "fits", "tight" or "does not fit".

        Tight is what leaves less free than it should, or fits only if the allocator gives free
        blocks back, for which it stops the GPU (`cudaFree`). Published runs in that state:
        `engine.catalog.constants.TIGHT_RUNS`.
        """
        if self.needed <= self.usable:
            return "fits"
        return "tight" if self.runs else "does not fit"

    @property
    def runs(self) -> bool:
        """Whether the GPU holds it, if only just."""
        return self.least <= self.device

    @property
    def give_back(self) -> Bytes:
        """Bytes that the allocator must give back."""
        return max(0.0, self.needed - self.device)


def memory_fit(memory: Memory, device: Bytes, kept_free: Share = KEPT_FREE) -> MemoryFit:
    """Return the fit of the fullest rank in a GPU on which programs can allocate `device` bytes."""
    return MemoryFit(
        needed=memory.total,
        least=memory.least,
        usable=usable_bytes(device, kept_free),
        device=device,
    )
