"""The straight line through two measured peaks of memory, and what it says of a larger batch."""

from dataclasses import dataclass

from engine.catalog.measured_steps import OWN_STEPS, MeasuredStep
from engine.core.units import Bytes, Count, TokenRate


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Memory as a fixed part and a part for every sequence."""

    fixed: Bytes
    per_sequence: Bytes

    def at(self, sequences: Count) -> Bytes:
        """Return the memory with so many sequences in the micro-batch."""
        return self.fixed + sequences * self.per_sequence


def line_through(first: MeasuredStep, second: MeasuredStep) -> Line:
    """Return the line through two peaks of the same job, with micro-batches of two sizes."""
    apart = second.micro_batch_size - first.micro_batch_size
    slope = (second.allocated - first.allocated) / apart
    return Line(fixed=first.allocated - first.micro_batch_size * slope, per_sequence=slope)


def of_length(length: int) -> tuple[MeasuredStep, ...]:
    """Return the measured steps with sequences of one length, the smallest micro-batch first."""
    return tuple(one for one in OWN_STEPS if one.length == length)


def token_rate(step: MeasuredStep) -> TokenRate:
    """Return the tokens per second of one GPU."""
    return step.micro_batch_size * step.length / step.time
