"""What a collective takes from the computation that runs beside it."""

from engine.core.equation import Equation
from engine.core.units import Count, Ratio, Share

_SYMBOLS = {
    "c": ("c", "slowdown of computation while a collective runs"),
    "b": ("b", "share of the computation that waits for memory"),
    "s": ("s", "multiprocessors that the collective takes"),
    "S": ("S", "multiprocessors of the GPU"),
    "h": ("h", "share of the memory bandwidth that it takes"),
    "d": ("d", "share of the computation that has a collective beside it"),
    "g": ("g", "speed-up"),
}

CONTENTION = Equation(
    name="contention",
    tex=r"\v{c} = \frac{1 - \v{b}}{1 - \v{s}/\v{S}} + \frac{\v{b}}{1 - \v{h}} - 1",
    symbols={key: _SYMBOLS[key] for key in ("c", "b", "s", "S", "h")},
    sources=("lee2025", "deepseek2024"),
    title="Slowdown of computation beside a collective",
)


def contention(taken: Count, multiprocessors: Count, bound: Share, memory: Share) -> Ratio:
    """Return how much longer computation takes while a collective runs: 0 if nothing is taken.

    Products keep 1 - s/S of the multiprocessors, kernels that wait for memory 1 - h of its
    bandwidth. Derived; Lee et al. 2025 name and measure both causes. Limit: no power limit, no
    shared cache, no last wave of tiles; each may make it worse.
    """
    return (1 - bound) / (1 - taken / multiprocessors) + bound / (1 - memory) - 1


MOST_GAINED = Equation(
    name="most_gained_without_contention",
    tex=r"\v{g} = 1 + \v{d}\,\v{c}",
    symbols={key: _SYMBOLS[key] for key in ("g", "d", "c")},
    title="Most that copying without multiprocessors gains",
)


def most_gained(slow_down: Ratio, beside: Share) -> Ratio:
    """Return the speed-up if contention vanished from a step that does nothing but compute.

    Of the computation's work the share d has a collective beside it and takes 1 + c as long.
    Amdahl's law; a step that also waits gains less.
    """
    return 1 + beside * slow_down
