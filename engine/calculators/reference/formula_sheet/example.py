"""Example values of an equation: the function, and the value of each symbol."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.calculators.reference.formula_sheet.inputs import ELEMENT, Inputs
from engine.core.units import Bytes, Count, Quantity, Seconds, Tokens
from engine.formulas.communication import ring_all_reduce_time
from engine.formulas.overlap import bucket_count, gradient_size

SymbolValues = Mapping[str, tuple[float, Quantity]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The example of an equation: title, function and symbol values.

    Attributes:
        title: what the sheet calls it.
        function: whose result the left side shows.
        symbols: inputs -> the number behind every symbol of the equation.
        inputs: symbol key -> the input that it is, where it is one.
    """

    title: str
    function: Callable[..., Any]
    symbols: Callable[[Inputs], SymbolValues]
    inputs: Mapping[str, str] = field(default_factory=dict)


def world_size(x: Inputs) -> Count:
    """Return the number of GPUs."""
    return x.gpus_per_node * x.num_nodes


def gradient_bytes(x: Inputs) -> Bytes:
    """Return the gradient bytes per rank."""
    return gradient_size(x.parameters, ELEMENT[x.gradient_type])


def tokens_per_gpu(x: Inputs) -> Tokens:
    """Return the tokens per GPU in a step of a single micro-batch."""
    return float(x.sequence_length * x.micro_batch_size)


def num_buckets(x: Inputs) -> Count:
    """Return the number of buckets."""
    return bucket_count(gradient_bytes(x), x.bucket)


def bucketed_all_reduce_time(x: Inputs, size: Bytes) -> Seconds:
    """Return the time of sequential all-reduces of all buckets, `size` bytes in total."""
    count = num_buckets(x)
    return count * ring_all_reduce_time(size / count, world_size(x), x.port, x.latency)
