"""What single changes take off a step: parts of its time that a cause would no longer cost."""

from dataclasses import replace

from engine.catalog.constants import COMMON
from engine.core.units import Ratio, Seconds, Share
from engine.formulas.operations import attention_operations, model_operations
from engine.run.run import Run
from engine.simulate.memory.allocator import fits
from engine.simulate.memory.memory import memory
from engine.simulate.step.step_time import StepTime, step_time


def step_of(run: Run) -> StepTime:
    """Return the step of a run."""
    return step_time(run.model, run.cluster, run.plan, run.training)


def run_fits(run: Run) -> bool:
    """Return whether the fullest GPU of a run holds it."""
    return fits(memory(run.model, run.plan, run.training), run.training, run.cluster.gpu.memory)


def gpus_per_sequence(run: Run) -> Ratio:
    """Return GPUs over sequences of a step: runs of another size compare by it times the step."""
    return run.plan.world_size / run.training.global_batch_size


def hidden(run: Run, step: StepTime) -> Seconds:
    """Return the communication that runs beside computation: what blocking would add."""
    training = replace(run.training, overlap_gradient_reduce=False, overlap_tensor_parallel=False)
    blocking = step_time(run.model, run.cluster, run.plan, training)
    return max(0.0, blocking.exposed - step.exposed)


def faster_kernels(run: Run, step: StepTime, factor: Ratio) -> Seconds:
    """Return what kernels of `factor` times the speed take off the collectives inside a node.

    Between nodes the wire sets the pace, and no kernel makes it faster.
    """
    plan, node = run.plan, run.cluster.gpus_per_node
    inside = (
        (step.tensor_parallel, plan.tensor_parallel),
        (step.context_parallel, plan.tensor_parallel * plan.context_parallel),
        (step.expert_parallel, plan.expert_parallel * plan.expert_tensor_parallel),
        (step.data_parallel, plan.world_size // plan.pipeline_parallel),
    )
    return (1 - 1 / factor) * sum(time for time, ranks in inside if ranks <= node)


def balanced_documents(run: Run, step: StepTime, imbalance: Ratio) -> Seconds:
    """Return what the busiest rank's excess of attention costs, of `imbalance` times the mean."""
    if run.plan.context_parallel == 1:
        return 0.0
    # Forward, and twice as much backward.
    scores = 3 * attention_operations(run.model, run.training.sequence_length, 1.0)
    tokens = run.training.global_batch_size * run.training.sequence_length
    share = scores * tokens / model_operations(run.model, run.training)
    return step.compute * min(1.0, share) * (1 - 1 / imbalance)


def equal_gpus(step: StepTime) -> Seconds:
    """Return what waiting for the slowest GPU costs."""
    return max(0.0, step.other - COMMON.host)


def no_contention(run: Run, step: StepTime, slow_down: Share) -> Seconds:
    """Return what computing loses while collectives run beside it."""
    return min(hidden(run, step), step.compute) * slow_down / (1 + slow_down)
