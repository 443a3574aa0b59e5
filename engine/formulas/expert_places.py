"""In how many nodes, or on how many ranks, the experts of a token lie."""

from engine.core.equation import Equation
from engine.core.units import Count, Ratio

REACHED = Equation(
    name="reached",
    tex=r"\v{v} = \min\!\left(\v{n}\left(1 - \left(1 - \tfrac{1}{\v{n}}\right)^{\v{k}}\right),"
    r"\ \v{M}\right)",
    symbols={
        "v": ("v", "different nodes (or ranks) that a token's experts lie in, on average"),
        "n": ("n", "nodes (or ranks) of the experts"),
        "k": ("k", "experts of a token"),
        "M": ("M", "most nodes that the router allows"),
    },
    sources=("deepseek2024",),
    title="Nodes that a token's experts lie in",
)


def reached(places: Count, copies: Count, most: Count = 0) -> Ratio:
    """Return the mean number of different places that the experts of a token lie in.

    Args:
        places: nodes, or ranks, over which the experts are spread evenly.
        copies: experts of the token, each in a place by chance.
        most: places that the router allows (node-limited routing, DeepSeek-AI 2024); 0: all.

    Derived: a place is missed by all copies with the probability (1 - 1/n)^k.
    """
    mean = places * (1 - (1 - 1 / places) ** copies)
    return min(mean, most) if most else mean
