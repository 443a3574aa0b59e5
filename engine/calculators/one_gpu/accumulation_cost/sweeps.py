"""Accumulation at scale over schemes and numbers of micro-batches."""

from collections.abc import Mapping
from dataclasses import dataclass

from engine.calculators.one_gpu.accumulation_cost.inputs import MOST, SCHEMES, Inputs, step_of
from engine.core.units import Bytes, Count, TokenRate, Tokens
from engine.simulate.data_parallel.accumulation import Step, accumulated_passes, held, sent, speed

COUNTS = tuple(1 << power for power in range(MOST.bit_length()))
_TIMED = ("ddp", "zero1", "fsdp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """What a scheme sends in a step, in how many passes around the ring, and what a GPU holds."""

    reductions: Count
    gathers: Count
    sent: Bytes
    per_token: Bytes
    held: Bytes


def tokens_of(step: Step) -> Tokens:
    """Return the tokens of one GPU in a step."""
    return float(step.batch * step.count * step.sequence_length)


def volumes(inputs: Inputs) -> Mapping[str, tuple[Bytes, ...]]:
    """Return what a GPU sends for a token with every scheme, over `COUNTS`."""
    steps = {scheme: [step_of(inputs, scheme, n) for n in COUNTS] for scheme in SCHEMES}
    return {
        scheme: tuple(sent(step) / tokens_of(step) for step in some)
        for scheme, some in steps.items()
    }


def speeds(inputs: Inputs) -> Mapping[str, tuple[TokenRate, ...]]:
    """Return tokens per second per GPU over `COUNTS`, of schemes whose speed the model knows."""
    return {scheme: tuple(speed(step_of(inputs, scheme, n)) for n in COUNTS) for scheme in _TIMED}


def scheme_of(inputs: Inputs, scheme: str) -> Scheme:
    """Return a scheme with the reader's numbers."""
    step = step_of(inputs, scheme)
    reductions, gathers = accumulated_passes(scheme, step.count)
    return Scheme(
        reductions=reductions,
        gathers=gathers,
        sent=sent(step),
        per_token=sent(step) / tokens_of(step),
        held=held(step).total,
    )
