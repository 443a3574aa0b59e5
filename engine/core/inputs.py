"""Public names for declaring inputs: field types, units and the input error."""

from engine.core.fields.choice import Choice, Order, Switch
from engine.core.fields.number import Number
from engine.core.fields.scalar import Scalar
from engine.core.fields.text import Compact, Sample, Text
from engine.core.fields.unit import (
    BILLIONS,
    ELEMENTS,
    GBITS,
    GBYTES_PER_SECOND,
    GIGABYTES,
    MEBIBYTES,
    MEGABYTES,
    MICROSECONDS,
    MILLISECONDS,
    PERCENT,
    PLAIN,
    TFLOPS,
    Unit,
)
from engine.core.input_errors import InputError

__all__ = [
    "BILLIONS",
    "ELEMENTS",
    "GBITS",
    "GBYTES_PER_SECOND",
    "GIGABYTES",
    "MEBIBYTES",
    "MEGABYTES",
    "MICROSECONDS",
    "MILLISECONDS",
    "PERCENT",
    "PLAIN",
    "TFLOPS",
    "Choice",
    "Compact",
    "Field",
    "InputError",
    "Number",
    "Order",
    "Sample",
    "Scalar",
    "Switch",
    "Text",
    "Unit",
]

Field = Number | Choice | Switch | Order | Text | Compact
