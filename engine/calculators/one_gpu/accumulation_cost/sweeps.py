"""Accumulation at scale over schemes and numbers of micro-batches."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.calculators.one_gpu.accumulation_cost.inputs import (
    MAX_MICRO_BATCHES,
    SCHEMES,
    Inputs,
    step_of,
)
from engine.core.units import Bytes, Count, TokenRate, Tokens
from engine.simulate.data_parallel.accumulation import (
    AccumulationJob,
    accumulated_passes,
    accumulation_bytes_sent,
    accumulation_memory,
    accumulation_token_rate,
)

COUNTS = tuple(1 << power for power in range(MAX_MICRO_BATCHES.bit_length()))
_TIMED = ("ddp", "zero1", "fsdp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """Bytes sent per step, passes around the ring, and memory per GPU of a sharding scheme."""

    reductions: Count
    gathers: Count
    sent: Bytes
    per_token: Bytes
    memory: Bytes


def tokens_per_gpu(step: AccumulationJob) -> Tokens:
    """Return the tokens per GPU in a step."""
    return float(step.batch * step.count * step.sequence_length)


def volumes(inputs: Inputs) -> Mapping[str, tuple[Bytes, ...]]:
    """Return the bytes sent per GPU and token by scheme, over `COUNTS`."""
    steps = {scheme: [step_of(inputs, scheme, n) for n in COUNTS] for scheme in SCHEMES}
    return {
        scheme: tuple(accumulation_bytes_sent(step) / tokens_per_gpu(step) for step in scheme_steps)
        for scheme, scheme_steps in steps.items()
    }


def speeds(inputs: Inputs) -> Mapping[str, tuple[TokenRate, ...]]:
    """Return tokens per second per GPU over `COUNTS`, for the schemes that the model can time."""
    return {
        scheme: tuple(accumulation_token_rate(step_of(inputs, scheme, n)) for n in COUNTS)
        for scheme in _TIMED
    }


def scheme_of(inputs: Inputs, scheme: str) -> Scheme:
    """Return a scheme with the reader's numbers."""
    step = step_of(inputs, scheme)
    reductions, gathers = accumulated_passes(scheme, step.count)
    return Scheme(
        reductions=reductions,
        gathers=gathers,
        sent=accumulation_bytes_sent(step),
        per_token=accumulation_bytes_sent(step) / tokens_per_gpu(step),
        memory=accumulation_memory(step).total,
    )
