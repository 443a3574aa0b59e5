"""The input for the price of a GPU."""

from engine.core import units
from engine.core.inputs import Number, Unit
from engine.core.units import HOUR

PER_HOUR = Unit(" per hour", 1 / HOUR, quantity=units.PRICE)
PRICE = Number(
    label="Price of a GPU",
    unit=PER_HOUR,
    low=0.01 / HOUR,
    high=100 / HOUR,
    scale="log",
    symbol="p",
    help="In your own currency.",
)
