"""Training result: parameters, persistent states per rank, and numbers sent."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.core.units import Bytes, Count
from engine.formulas.states import StateBytes
from engine.tiny.exchange import Exchange
from engine.tiny.job import TinyJob
from engine.tiny.matrix import Vector

# Adam's own state holds three numbers per parameter: a copy and two moments.
OPTIMIZER_NUMBERS: Count = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StateCounts:
    """Sizes of one rank's persistent states; temporary buffers are left out."""

    parameters: Count
    gradients: Count
    optimizer: Count

    def size(self, types: StateBytes) -> Bytes:
        """Return the bytes; `types.optimizer` covers the three numbers of Adam."""
        return (
            self.parameters * types.parameter
            + self.gradients * types.gradient
            + self.optimizer * types.optimizer / OPTIMIZER_NUMBERS
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """The outcome of a training run.

    Attributes:
        job: that was run.
        parameters: after the last step, put together from all ranks.
        losses: before every step.
        state_counts: numbers that every rank keeps.
        sent: kind -> numbers that each rank sent, over all steps.
    """

    job: TinyJob
    parameters: Vector
    losses: tuple[float, ...]
    state_counts: tuple[StateCounts, ...]
    sent: Mapping[str, tuple[int, ...]]


def sent_numbers(exchange: Exchange) -> dict[str, tuple[int, ...]]:
    """Return the numbers sent per rank, by kind."""
    return {kind: tuple(numbers) for kind, numbers in exchange.sent.items()}


def parameter_difference(run: TrainingResult, other: TrainingResult) -> float:
    """Return the largest difference of two runs' parameters, relative to the largest parameter."""
    largest = max(abs(number) for number in other.parameters)
    pairs = zip(run.parameters, other.parameters, strict=True)
    return max(abs(value - expected) for value, expected in pairs) / largest
