"""What a rank fills of its GPU: tensors, what the allocator holds, and what no framework counts."""

from engine.catalog.constants import ALLOWANCES
from engine.core.record import record
from engine.core.units import Bytes, Count, Share
from engine.run.parallelism import (
    Training,
    shards_all,
)


@record
class Memory:
    """The memory of the fullest rank.

    Attributes:
        parameters: as the matrix products read them.
        gradients: the sum over the micro-batches.
        optimizer: full-precision copy and moments.
        activations: kept for the backward pass, and what one layer works with at the peak.
        buffers: of communication: gathered parameters, buckets, tensors between stages.
        reserve: workspaces, and what the framework's own report counts beyond tensors.
        stage: the pipeline stage of that rank.
        fragments: what the allocator holds beyond tensors, of them.
    """

    parameters: Bytes
    gradients: Bytes
    optimizer: Bytes
    activations: Bytes
    buffers: Bytes
    reserve: Bytes
    stage: Count
    fragments: Share

    @property
    def total(self) -> Bytes:
        """All parts together."""
        states = self.parameters + self.gradients + self.optimizer
        return states + self.activations + self.buffers + self.reserve


def fragments(training: Training, ranks: Count) -> Share:
    """Return what the allocator holds beyond tensors, of them, with so many ranks.

    Beside adapters most tensors are activations, which come and go: one rank has as many pieces.
    """
    alone = ranks == 1 and not training.lora_rank
    return ALLOWANCES.fragments_alone if alone else ALLOWANCES.fragments


def reserve(training: Training, used: Bytes, ranks: Count) -> Bytes:
    """Return what a report of the framework counts beyond tensors.

    Megatron reports what tensors use; torchtitan what the allocator reserves; for DeepSpeed runs
    it is customary to read nvidia-smi, which counts the reserve, the CUDA context and NCCL.
    """
    if shards_all(training):
        return fragments(training, ranks) * used
    if training.framework == "deepspeed":
        return fragments(training, ranks) * used + ALLOWANCES.context + ALLOWANCES.channels
    return ALLOWANCES.workspace


def allocated(memory: Memory) -> Bytes:
    """Return what tensors and workspaces fill, if all parts are there at the peak.

    Where they are not, `torch.cuda.max_memory_allocated` is
    `engine.simulate.memory.memory_moments`.
    """
    tensors = memory.total - memory.reserve
    return tensors + ALLOWANCES.workspace


def reserved(memory: Memory) -> Bytes:
    """Return what the caching allocator holds: `torch.cuda.max_memory_reserved`.

    Blocks that do not fit what is asked for are what it holds beyond tensors: the share of
    `ALLOWANCES.fragments`, fitted to torchtitan's published peaks, less with one rank.
    """
    return allocated(memory) + memory.fragments * (memory.total - memory.reserve)


def process(memory: Memory) -> Bytes:
    """Return what nvidia-smi shows: what is reserved, the CUDA context and NCCL's buffers.

    The context was measured (BigScience 2022), NCCL's buffers are fitted to the same table.
    """
    return reserved(memory) + ALLOWANCES.context + ALLOWANCES.channels


def fits(memory: Memory, training: Training, capacity: Bytes) -> bool:
    """Return whether the fullest rank fits into `capacity`, with the CUDA context and NCCL."""
    return memory.total <= usable(capacity, training)


def usable(capacity: Bytes, training: Training) -> Bytes:
    """Return what of a GPU's memory `Memory` may fill; `capacity` is the memory as it is sold.

    80 GB on the label are 80 GiB, 85.90 GB; the CUDA context and NCCL take theirs first.
    """
    return capacity - context(training)


def context(training: Training) -> Bytes:
    """Return what the CUDA context and NCCL take beside what `Memory` counts."""
    if training.framework == "deepspeed":
        return 0.0
    return ALLOWANCES.context + ALLOWANCES.channels
