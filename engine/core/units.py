"""Units: floats in SI base units, typed by quantity; no unit stands in a name."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated

KILO, MEGA, GIGA, TERA, PETA, EXA = 1e3, 1e6, 1e9, 1e12, 1e15, 1e18
MILLI, MICRO, NANO = 1e-3, 1e-6, 1e-9

KB, MB, GB, TB = KILO, MEGA, GIGA, TERA
KiB, MiB, GiB, TiB = 2.0**10, 2.0**20, 2.0**30, 2.0**40
HOUR, DAY = 3_600.0, 86_400.0
KWH = 3.6e6
Gbit = GIGA / 8  # one gigabit in bytes, so that 400 * Gbit is a link speed in bytes per second


@dataclass(frozen=True, slots=True)
class Quantity:
    """A physical quantity: its name and its powers of the base units.

    Attributes:
        name: what it is called; `engine.core.numbers` decides by it how the number is written.
        byte: power of the byte.
        second: power of the second.
        flop: power of the floating-point operation.
        joule: power of the joule.
        money: power of the reader's own currency.
        digits: how many digits the number has at most because somebody gave it: a reader, a
            datasheet, a published text. 0: nobody did; it has the three digits of a prediction.
        sign: what stands behind the number of a quantity of one's own, such as " m/s".
        size: of that unit, in SI.
    """

    name: str
    byte: int = 0
    second: int = 0
    flop: int = 0
    joule: int = 0
    money: int = 0
    digits: int = 0
    sign: str = ""
    size: float = 1.0


BYTES = Quantity("bytes", byte=1)
SECONDS = Quantity("seconds", second=1)
BANDWIDTH = Quantity("bandwidth", byte=1, second=-1)
LINK_SPEED = Quantity("link_speed", byte=1, second=-1)
OPERATIONS = Quantity("operations", flop=1)
FLOP_RATE = Quantity("flop_rate", flop=1, second=-1)
INTENSITY = Quantity("intensity", flop=1, byte=-1)
COUNT = Quantity("count")
PARAMETERS = Quantity("parameters")
TOKENS = Quantity("tokens")
TOKEN_RATE = Quantity("token_rate", second=-1)
GPU_TIME = Quantity("gpu_time", second=1)
POWER = Quantity("power", joule=1, second=-1)
ENERGY = Quantity("energy", joule=1)
MONEY = Quantity("money", money=1)
PRICE = Quantity("price", money=1, second=-1)
SHARE = Quantity("share")
RATIO = Quantity("ratio")
NUMBER = Quantity("number")  # of no unit and no multiple: a learning rate, a decay rate

Bytes = Annotated[float, BYTES]
Seconds = Annotated[float, SECONDS]
Bandwidth = Annotated[float, BANDWIDTH]
LinkSpeed = Annotated[float, LINK_SPEED]
Operations = Annotated[float, OPERATIONS]
FlopRate = Annotated[float, FLOP_RATE]
Intensity = Annotated[float, INTENSITY]
Count = Annotated[int, COUNT]
Parameters = Annotated[float, PARAMETERS]
Tokens = Annotated[float, TOKENS]
TokenRate = Annotated[float, TOKEN_RATE]
GpuTime = Annotated[float, GPU_TIME]
Power = Annotated[float, POWER]
Energy = Annotated[float, ENERGY]
Money = Annotated[float, MONEY]
Price = Annotated[float, PRICE]
Share = Annotated[float, SHARE]
Ratio = Annotated[float, RATIO]
PlainNumber = Annotated[float, NUMBER]


@cache
def with_digits(quantity: Quantity, digits: int = 6) -> Quantity:
    """Return the quantity of a number that was given with so many significant digits."""
    return replace(quantity, digits=digits)
