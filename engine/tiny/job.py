"""Training job of the tiny model: model, token sequences, optimizer settings."""

from dataclasses import dataclass, replace

from engine.catalog.models import TINY_260, Model
from engine.core.units import Count
from engine.tiny.layout import tensors
from engine.tiny.matrix import Vector

TokenSequence = tuple[int, ...]

# A mixture of experts of the same width: top two of four.
TINY_EXPERTS = replace(
    TINY_260, name="tiny-experts", num_experts=4, experts_per_token=2, expert_ffn_hidden_size=2
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyJob:
    """A training run, the same for every scheme.

    Attributes:
        model: its shape.
        batch: the sequences of every step; each token is the target of the one before it.
        steps: optimizer steps.
        learning_rate: of Adam; its other constants are those of PyTorch.
        num_microbatches: in which every rank splits its sequences.
    """

    model: Model = TINY_260
    batch: tuple[TokenSequence, ...]
    steps: Count = 3
    learning_rate: float = 0.01
    num_microbatches: Count = 1


def num_targets(job: TinyJob) -> Count:
    """Return the number of tokens predicted in one step, on all ranks together."""
    return sum(len(sequence) - 1 for sequence in job.batch)


def rank_sequences(job: TinyJob, rank: int, ranks: Count) -> tuple[TokenSequence, ...]:
    """Return the sequences of a rank of data parallelism, dealt like cards."""
    return job.batch[rank::ranks]


def micro_batches(
    job: TinyJob, sequences: tuple[TokenSequence, ...]
) -> list[tuple[TokenSequence, ...]]:
    """Return the sequences of a rank as micro-batches; one that would be empty is left out."""
    dealt = [sequences[i :: job.num_microbatches] for i in range(job.num_microbatches)]
    return [micro_batch for micro_batch in dealt if micro_batch]


def example_batch(sequences: Count = 8, length: Count = 4) -> tuple[TokenSequence, ...]:
    """Return sequences of `length` predicted tokens from a vocabulary of 8: counting by steps.

    Sequence i starts at i and counts on in steps of 1, 2 or 3, modulo 8.
    """
    return tuple(
        tuple((i + (1 + i % 3) * step) % 8 for step in range(length + 1)) for i in range(sequences)
    )


def initial_parameters(model: Model, seed: int = 1) -> Vector:
    """Return the parameters before the first step: norms 1, all else uniform in -0.5 to 0.5.

    The numbers come from the generator of Lehmer, x = 48,271 x mod 2^31 - 1 (Park, Miller and
    Stockmeyer 1993), rounded to thousandths, so that they are short in print.
    """
    state = seed
    numbers: Vector = []
    for tensor in tensors(model):
        for _ in range(tensor.size):
            state = state * 48_271 % (2**31 - 1)
            numbers.append(1.0 if "norm" in tensor.name else round(state / (2**31 - 1) - 0.5, 3))
    return numbers
