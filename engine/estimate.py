"""The estimate of one training run: step time, rates, memory and problems, in SI units."""

from collections.abc import Iterator
from typing import Any

from engine.core.numbers import DEFAULT, format_value
from engine.core.units import BYTES, Bytes, Seconds
from engine.formulas.parameters import total_parameters
from engine.formulas.step_operations import hardware_operations, model_operations
from engine.run.problems import problems
from engine.run.run import Run
from engine.simulate.memory.allocator import MemoryFit, memory_fit, reported_bytes
from engine.simulate.memory.memory import rank_memory
from engine.simulate.memory.memory_moments import peak_tensor_bytes
from engine.simulate.step.step_range import step_range
from engine.simulate.step.step_time import step_time


def estimate(run: Run) -> dict[str, Any]:
    """Return the estimate of a run: step time, rates, memory, problems."""
    model, cluster, plan, training = run.model, run.cluster, run.plan, run.training
    step = step_time(model, cluster, plan, training)
    peak_memory = rank_memory(model, plan, training)
    total = step.total
    fit = memory_fit(peak_memory, cluster.gpu.memory)
    reported = reported_bytes(peak_memory, training)
    rank_seconds = total * plan.world_size
    rate = model_operations(model, training) / rank_seconds
    hardware_rate = hardware_operations(model, training) / rank_seconds
    compute_precision = cluster.gpu.computes_in(training.precision)
    peak = cluster.gpu.peak[compute_precision]
    notes = list(problems(model, cluster, plan, training))
    if compute_precision != training.precision:
        notes.append(
            f"{cluster.gpu.name} has no {training.precision}; "
            f"its {compute_precision} peak is taken."
        )
    if training.lora_rank:
        notes.append("Adapters alone are trained; mfu counts no gradients of frozen weights.")
    notes += _memory_notes(fit, cluster.gpu.memory)
    low, high, basis = step_range(run, total)
    return {
        "step_time": total,
        "step_time_low": low,
        "step_time_high": high,
        "range_basis": {"class": basis.name, "runs": basis.runs},
        "extrapolates": list(basis.beyond),
        "tokens_per_second_per_gpu": training.global_batch_size
        * training.sequence_length
        / rank_seconds,
        "model_flops_rate": rate,
        "hardware_flops_rate": hardware_rate,
        "mfu": rate / peak,
        "hfu": hardware_rate / peak,
        "parameters": total_parameters(model),
        "peak_memory": reported,
        "memory": {
            "parameters": peak_memory.parameters,
            "gradients": peak_memory.gradients,
            "optimizer": peak_memory.optimizer,
            "activations": peak_memory.activations,
            "buffers": peak_memory.buffers,
            "reserve": reported - peak_memory.tensors,
        },
        "time": {
            "compute": step.compute,
            "tensor_parallel": step.tensor_parallel,
            "context_parallel": step.context_parallel,
            "expert_parallel": step.expert_parallel,
            "pipeline": step.pipeline,
            "data_parallel": step.data_parallel,
            "bubble": step.bubble,
            "optimizer": step.optimizer,
            "other": step.other,
        },
        "fits": fit.runs,
        "problems": notes,
        "memory_allocated": peak_tensor_bytes(run.model, run.plan, run.training, peak_memory),
        "memory_reserved": peak_memory.reserved,
        "memory_process": peak_memory.total,
        "fit": fit.verdict,
        "memory_usable": fit.usable,
        "memory_to_give_back": fit.give_back,
        **_cost(run, total),
    }


def _memory_notes(fit: MemoryFit, device: Bytes) -> Iterator[str]:
    """Yield what speaks against the memory of a run."""
    if fit.verdict == "fits":
        return
    needed, total, usable, back = (
        format_value(amount, BYTES, DEFAULT)
        for amount in (fit.needed, device, fit.usable, fit.give_back)
    )
    yield (
        f"The process of the rank that holds most needs {needed}; of {total} that programs can "
        f"allocate on the GPU, {usable} may be filled."
    )
    if fit.give_back and fit.runs:
        yield f"Tight: it runs only if the allocator gives {back} back."


def _cost(run: Run, step: Seconds) -> dict[str, float]:
    """Return the cost of a step, where the cluster has a price."""
    price = run.cluster.price_per_hour
    return {"cost_per_step": price * run.plan.world_size * step} if price else {}
