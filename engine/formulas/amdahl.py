"""Amdahl's law: what a part's share of the time allows."""

from engine.core.equation import Equation
from engine.core.units import Ratio, Share

AMDAHL = Equation(
    name="amdahl",
    tex=r"\v{g} = \frac{1}{1 - \v{e}\left(1 - \frac{1}{\v{k}}\right)} - 1",
    symbols={
        "g": ("g", "by how much the step gets faster"),
        "e": ("e", "share of the step that gets faster"),
        "k": ("k", "how many times as fast"),
    },
    sources=("amdahl1967",),
    title="Amdahl's law",
)


def amdahl(share: Share, factor: Ratio) -> Ratio:
    """Return the speed-up of a step if one share of it gets faster by a factor.

    Source: Amdahl 1967.
    """
    return 1 / (1 - share * (1 - 1 / factor))
