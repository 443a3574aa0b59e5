"""Step time saved by removing one cause of waiting or slow kernels."""

from dataclasses import replace

from engine.catalog.constants import COMMON, KEPT_FREE
from engine.core.units import Ratio, Seconds, Share
from engine.formulas.operations import attention_operations
from engine.formulas.step_operations import model_operations
from engine.run.run import Run
from engine.simulate.memory.allocator import MemoryFit, memory_fit
from engine.simulate.memory.memory import rank_memory
from engine.simulate.step.step_time import StepTime, step_time


def run_step_time(run: Run) -> StepTime:
    """Return the step time of a run, by parts."""
    return step_time(run.model, run.cluster, run.plan, run.training)


def run_fit(run: Run, kept_free: Share = KEPT_FREE) -> MemoryFit:
    """Return how the fullest GPU of a run holds it."""
    memory = rank_memory(run.model, run.plan, run.training)
    return memory_fit(memory, run.cluster.gpu.memory, kept_free)


def gpus_per_sequence(run: Run) -> Ratio:
    """Return GPUs per sequence of a step, which makes runs of other sizes comparable."""
    return run.plan.world_size / run.training.global_batch_size


def hidden_communication(run: Run, step: StepTime) -> Seconds:
    """Return the hidden communication: the exposed time that blocking would add."""
    training = replace(
        run.training,
        overlap_gradient_reduce=False,
        overlap_tensor_parallel=False,
        overlap_expert_parallel=False,
    )
    blocking = step_time(run.model, run.cluster, run.plan, training)
    return max(0.0, blocking.exposed - step.exposed)


def faster_kernels_saving(run: Run, step: StepTime, factor: Ratio) -> Seconds:
    """Return the time saved by collective kernels inside a node that are `factor` times as fast.

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


def balanced_documents_saving(run: Run, step: StepTime, imbalance: Ratio) -> Seconds:
    """Return the time saved by balancing attention of `imbalance` times the mean."""
    if run.plan.context_parallel == 1:
        return 0.0
    # Forward, and twice as much backward.
    scores = 3 * attention_operations(run.model, run.training.sequence_length, 1.0)
    tokens = run.training.global_batch_size * run.training.sequence_length
    share = scores * tokens / model_operations(run.model, run.training)
    return step.compute * min(1.0, share) * (1 - 1 / imbalance)


def equal_gpus_saving(step: StepTime) -> Seconds:
    """Return the time saved without waiting for the slowest GPU."""
    return max(0.0, step.other - COMMON.host)


def no_contention_saving(run: Run, step: StepTime, slow_down: Share) -> Seconds:
    """Return the time saved without contention of computation and collectives."""
    return min(hidden_communication(run, step), step.compute) * slow_down / (1 + slow_down)
