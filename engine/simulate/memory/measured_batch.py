"""Linear extrapolation of peak memory to a larger micro-batch from two measured peaks."""

from dataclasses import dataclass

from engine.catalog.measured_steps import OWN_STEPS, MeasuredStep
from engine.core.units import Bytes, Count, TokenRate


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLine:
    """Memory as a fixed part and a part per sequence."""

    fixed: Bytes
    per_sequence: Bytes

    def at(self, sequences: Count) -> Bytes:
        """Return the memory with a number of sequences in the micro-batch."""
        return self.fixed + sequences * self.per_sequence


def line_through(first: MeasuredStep, second: MeasuredStep) -> MemoryLine:
    """Return the line through two peaks of the same job, with micro-batches of two sizes."""
    added_sequences = second.micro_batch_size - first.micro_batch_size
    slope = (second.allocated - first.allocated) / added_sequences
    return MemoryLine(fixed=first.allocated - first.micro_batch_size * slope, per_sequence=slope)


def steps_of_length(length: int) -> tuple[MeasuredStep, ...]:
    """Return the measured steps with one sequence length, the smallest micro-batch first."""
    return tuple(step for step in OWN_STEPS if step.length == length)


def token_rate(step: MeasuredStep) -> TokenRate:
    """Return the tokens per second of one GPU."""
    return step.micro_batch_size * step.length / step.time
