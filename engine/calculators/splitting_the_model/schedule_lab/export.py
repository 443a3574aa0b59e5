"""Export of the simulated schedule for PyTorch and Megatron-LM."""

from engine.calculators.splitting_the_model.schedule_lab.result import Result
from engine.core import registry
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
from engine.core.views import Code
from engine.simulate.pipeline.pipeline import PACKAGE


def pytorch(result: Result) -> Code:
    """Return the order of every rank in PyTorch's format."""
    schedule = registry.module(PACKAGE, result.chosen.name)
    orders = result.run.program.orders
    if sum(map(len, orders)) > MOST_ACTIONS:
        text = f"# More than {MOST_ACTIONS:,} actions; take fewer stages or micro-batches."
    else:
        text = pytorch_csv(orders, schedule.PLACEMENT)
    return Code(
        title="This order for _load_csv of PyTorch 2.13's pipelining, one rank a line",
        language="csv",
        text=text or f"# {schedule.TITLE} holds two copies of the model; PyTorch's stages do not.",
    )


def megatron(result: Result) -> Code:
    """Return Megatron-LM's arguments for the schedule."""
    setting = result.chosen.setting
    p, m, v = setting.pipeline_parallel, setting.num_microbatches, setting.num_chunks
    text = megatron_arguments(result.chosen.name, p, v, result.group, result.layout)
    if result.chosen.name == "interleaved" and m < p:
        text = "# Megatron-LM interleaves only with at least as many micro-batches as stages."
    return Code(
        title="This schedule as arguments of Megatron-LM (Core 0.19)",
        language="sh",
        text=text
        or f"# Megatron-LM has no {result.chosen.title}; it has 1F1B and interleaved 1F1B.",
    )


# A schedule for a framework: PyTorch's CSV of actions, Megatron-LM's arguments.

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
    def action(kind: int, microbatch: int, chunk: int) -> str:
        return f"{stage_of(rank, chunk, ranks, placement)}{_LETTERS[kind]}{microbatch}"

    if op.kind != PAIR:
        return action(op.kind, op.microbatch, op.chunk)
    back = action(BACKWARD, op.back_microbatch, op.back_chunk)
    return f"({action(FORWARD, op.microbatch, op.chunk)};{back})OVERLAP_F_B"


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
