"""Memory of a rank by part: tensors, allocator reserve, CUDA context and NCCL buffers."""

from engine.catalog.constants import ALLOWANCES
from engine.core.record import record
from engine.core.units import Bytes, Count, Share
from engine.run.parallelism import (
    Training,
    shards_all,
)


@record
class Memory:
    """Memory of the fullest rank, by part.

    Attributes:
        parameters: parameters as the matrix products read them.
        gradients: gradients summed over the micro-batches.
        optimizer: full-precision copy and moments.
        activations: kept activations, and working memory of one layer at the peak.
        buffers: communication buffers: gathered parameters, buckets, tensors between stages.
        reserve: workspaces, and what the framework's own report counts beyond tensors.
        stage: pipeline stage of that rank.
        fragments: memory that the allocator holds beyond tensors, as a share of the tensors.
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
        """Sum of all parts."""
        states = self.parameters + self.gradients + self.optimizer
        return states + self.activations + self.buffers + self.reserve


def fragment_share(training: Training, ranks: Count) -> Share:
    """Return the share of memory that the allocator holds beyond tensors.

    Beside adapters most tensors are activations, which come and go: one rank has as many pieces.
    """
    alone = ranks == 1 and not training.lora_rank
    return ALLOWANCES.fragments_alone if alone else ALLOWANCES.fragments


def reserve_bytes(training: Training, used: Bytes, ranks: Count) -> Bytes:
    """Return the bytes beyond tensors that the framework's memory report counts.

    Megatron reports what tensors use; torchtitan what the allocator reserves; for DeepSpeed runs
    it is customary to read nvidia-smi, which counts the reserve, the CUDA context and NCCL.
    """
    if shards_all(training):
        return fragment_share(training, ranks) * used
    if training.framework == "deepspeed":
        return fragment_share(training, ranks) * used + ALLOWANCES.context + ALLOWANCES.channels
    return ALLOWANCES.workspace


def allocated_bytes(memory: Memory) -> Bytes:
    """Return the bytes of tensors and workspaces, if all parts exist at the peak.

    Where they are not, `torch.cuda.max_memory_allocated` is
    `engine.simulate.memory.memory_moments`.
    """
    tensors = memory.total - memory.reserve
    return tensors + ALLOWANCES.workspace


def reserved_bytes(memory: Memory) -> Bytes:
    """Return the bytes that the caching allocator holds: `torch.cuda.max_memory_reserved`.

    Free blocks that fit no request are what it holds beyond tensors: the share of
    `ALLOWANCES.fragments`, fitted to torchtitan's published peaks, less with one rank.
    """
    return allocated_bytes(memory) + memory.fragments * (memory.total - memory.reserve)


def process_bytes(memory: Memory) -> Bytes:
    """Return the bytes that nvidia-smi shows: reserved memory, CUDA context and NCCL buffers.

    The context was measured (BigScience 2022), NCCL's buffers are fitted to the same table.
    """
    return reserved_bytes(memory) + ALLOWANCES.context + ALLOWANCES.channels


def fits(memory: Memory, training: Training, capacity: Bytes) -> bool:
    """Return whether the fullest rank fits into `capacity`, with the CUDA context and NCCL."""
    return memory.total <= usable_bytes(capacity, training)


def usable_bytes(capacity: Bytes, training: Training) -> Bytes:
    """Return the bytes of a GPU that `Memory` may fill; `capacity` is the memory as sold.

    80 GB on the label are 80 GiB, 85.90 GB; the CUDA context and NCCL take theirs first.
    """
    return capacity - context_bytes(training)


def context_bytes(training: Training) -> Bytes:
    """Return the bytes of the CUDA context and NCCL that `Memory` does not count."""
    if training.framework == "deepspeed":
        return 0.0
    return ALLOWANCES.context + ALLOWANCES.channels
