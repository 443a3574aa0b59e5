"""Export of the simulated schedule for PyTorch and Megatron-LM."""

from engine.calculators.splitting_the_model.schedule_lab.result import Result
from engine.calculators.splitting_the_model.schedule_lab.schedule_export import (
    MOST_ACTIONS,
    megatron_arguments,
    pytorch_csv,
)
from engine.core import registry
from engine.core.views import Code
from engine.simulate.pipeline.pipeline import PACKAGE


def pytorch(result: Result) -> Code:
    """Return the order of every rank in PyTorch's format."""
    schedule = registry.module(PACKAGE, result.own.name)
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
    own = result.own.setting
    p, m, v = own.pipeline_parallel, own.num_microbatches, own.num_chunks
    text = megatron_arguments(result.own.name, p, v, result.group, result.layout)
    if result.own.name == "interleaved" and m < p:
        text = "# Megatron-LM interleaves only with at least as many micro-batches as stages."
    return Code(
        title="This schedule as arguments of Megatron-LM (Core 0.19)",
        language="sh",
        text=text or f"# Megatron-LM has no {result.own.title}; it has 1F1B and interleaved 1F1B.",
    )
