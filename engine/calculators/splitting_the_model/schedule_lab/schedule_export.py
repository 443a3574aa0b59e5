"""A schedule for a framework: PyTorch's CSV of actions, Megatron-LM's arguments."""

from engine.core.pipeline_op import (
    BACKWARD,
    FORWARD,
    INPUT,
    MIRROR,
    PAIR,
    WEIGHT,
    Op,
    Orders,
    stage_of,
)
from engine.core.units import Count

# More actions than these make a file that nobody reads on a page.
MOST_ACTIONS = 4096
_LETTERS = {FORWARD: "F", BACKWARD: "B", INPUT: "I", WEIGHT: "W"}


def pytorch_csv(orders: Orders, placement: str) -> str:
    """Return the order of every rank as `torch.distributed.pipelining` reads it, a rank a line.

    An action is its stage, F, B, I (backward for the inputs) or W (for the weights), and its
    micro-batch: the format "compute_only" of `_PipelineScheduleRuntime._load_csv`, as of
    PyTorch 2.13. Nothing for two copies of the model, which its stages do not have.
    """
    if placement == MIRROR:
        return ""
    ranks = len(orders)
    return "".join(
        ",".join(_action(op, rank, ranks, placement) for op in order) + "\n"
        for rank, order in enumerate(orders)
    )


def _action(op: Op, rank: int, ranks: Count, placement: str) -> str:
    def one(kind: int, microbatch: int, chunk: int) -> str:
        return f"{stage_of(rank, chunk, ranks, placement)}{_LETTERS[kind]}{microbatch}"

    if op.kind != PAIR:
        return one(op.kind, op.microbatch, op.chunk)
    back = one(BACKWARD, op.back_microbatch, op.back_chunk)
    return f"({one(FORWARD, op.microbatch, op.chunk)};{back})OVERLAP_F_B"


def megatron_arguments(
    schedule: str,
    pipeline_parallel: Count,
    num_chunks: Count,
    group: Count,
    layout: str = "",
) -> str:
    """Return Megatron-LM's arguments for the schedule; nothing if it has no such schedule.

    Args:
        schedule: its name.
        pipeline_parallel: stages.
        num_chunks: of a rank.
        group: micro-batches that pass a chunk in a row, of an interleaved schedule.
        layout: of the layers, where they are not alike (`format_layout`). It then says how many
            chunks there are, and the argument for them is refused.
    """
    stages = f"--pipeline-model-parallel-size {pipeline_parallel}"
    if layout:
        layout = f'--pipeline-model-parallel-layout "{layout}"'
    if schedule == "one_f_one_b":
        return f"{stages} {layout}".strip()
    if schedule != "interleaved":
        return ""
    chunks = layout or f"--num-virtual-stages-per-pipeline-rank {num_chunks}"
    return f"{stages} {chunks} --microbatch-group-size-per-virtual-pipeline-stage {group}"
