"""The parts of a step and of a GPU's memory, by the symbols of their equations."""

from engine.core.outputs import Figure
from engine.core.units import BYTES, SECONDS
from engine.simulate.memory.allocator import Memory
from engine.simulate.step.step_time import StepTime


def step_symbols(step: StepTime) -> dict[str, Figure]:
    """Return the numbers of `engine.form.run.equations.STEP`."""
    exchange = step.tensor_parallel + step.context_parallel + step.expert_parallel + step.pipeline
    parts = {
        "T": step.total,
        "C": step.compute,
        "X": exchange,
        "D": step.data_parallel,
        "W": step.bubble,
        "O": step.optimizer,
        "R": step.other,
    }
    return {key: (value, SECONDS) for key, value in parts.items()}


def peak_symbols(memory: Memory) -> dict[str, Figure]:
    """Return the numbers of `engine.form.run.equations.PEAK`."""
    parts = {
        "M": memory.total,
        "P": memory.parameters,
        "G": memory.gradients,
        "O": memory.optimizer,
        "A": memory.activations,
        "B": memory.buffers,
        "R": memory.reserve,
    }
    return {key: (value, BYTES) for key, value in parts.items()}
