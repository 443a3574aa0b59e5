"""An equation with numbers in it: which function gives the result, and what each symbol is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.calculators.reference.formula_sheet.inputs import ELEMENT, Inputs
from engine.core.units import Bytes, Count, Quantity, Seconds, Tokens
from engine.formulas.communication import ring_all_reduce_time
from engine.formulas.overlap import bucket_count, gradient_size

Shown = Mapping[str, tuple[float, Quantity]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """How the sheet fills one equation.

    Attributes:
        title: what the sheet calls it.
        function: whose result the left side shows.
        symbols: inputs -> the number behind every symbol of the equation.
        inputs: symbol key -> the input that it is, where it is one.
    """

    title: str
    function: Callable[..., Any]
    symbols: Callable[[Inputs], Shown]
    inputs: Mapping[str, str] = field(default_factory=dict)


def ranks(x: Inputs) -> Count:
    """Return all GPUs."""
    return x.gpus_per_node * x.num_nodes


def buffer(x: Inputs) -> Bytes:
    """Return the gradients of one rank."""
    return gradient_size(x.parameters, ELEMENT[x.gradient_type])


def tokens(x: Inputs) -> Tokens:
    """Return the tokens of one GPU in a step of one micro-batch."""
    return float(x.sequence_length * x.micro_batch_size)


def buckets(x: Inputs) -> Count:
    """Return the number of buckets."""
    return bucket_count(buffer(x), x.bucket)


def bucketed(x: Inputs, size: Bytes) -> Seconds:
    """Return the all-reduces of all buckets of `size` bytes together, one after another."""
    count = buckets(x)
    return count * ring_all_reduce_time(size / count, ranks(x), x.port, x.latency)
