"""All that a calculator declares inputs with: their kinds, their units, and how one is refused."""

from engine.basis.fields.choice import Choice, Order, Switch
from engine.basis.fields.number import Number
from engine.basis.fields.scalar import Scalar
from engine.basis.fields.text import Compact, Sample, Text
from engine.basis.fields.unit import (
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
from engine.basis.refusal import InputError

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
