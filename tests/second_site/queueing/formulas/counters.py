"""Steady lines: customers come at random and take an exponentially distributed time."""

import math
from typing import Annotated

from engine.core.equation import Equation
from engine.core.units import Count, Quantity, Seconds, Share

Customers = Annotated[float, Quantity("customers")]
WAIT = Equation(
    "single_wait",
    r"\v{W} = \frac{\v{r}}{1 - \v{r}}\,\v{s}",
    {
        "W": ("W", "mean wait before the service"),
        "r": (r"\rho", "share of the time that the counter is busy"),
        "s": ("s", "mean time of a service"),
    },
)
IN_LINE = Equation(
    "in_line",
    r"\v{L} = \frac{\v{r}^2}{1 - \v{r}}",
    {"L": ("L", "mean number of customers in line"), "r": (r"\rho", "share of the time busy")},
    ("little1961",),
)


def single_wait(load: Share, service: Seconds) -> Seconds:
    """Return the mean wait before one counter."""
    return load / (1 - load) * service


def in_line(load: Share) -> Customers:
    """Return the mean number of customers who wait before one counter."""
    return load**2 / (1 - load)


def waiting(counters: Count, load: Share) -> Share:
    """Return the share of customers who find all counters busy (Erlang's formula C)."""
    offered = counters * load
    alone = sum(offered**n / math.factorial(n) for n in range(counters))
    full = offered**counters / math.factorial(counters) / (1 - load)
    return full / (alone + full)


def shared_wait(counters: Count, load: Share, service: Seconds) -> Seconds:
    """Return the mean wait in one line before several counters."""
    return waiting(counters, load) * service / (counters * (1 - load))
