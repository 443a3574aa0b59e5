"""How many tests find one bad node among many, depending on how groups are chosen."""

import math

from engine.core.equation import Equation
from engine.core.units import Count

HALVING_ROUNDS = Equation(
    name="halving_rounds",
    tex=r"\v{r} = \lceil \log_2 \v{N} \rceil",
    symbols={"r": ("r", "rounds of tests"), "N": ("N", "nodes")},
    title="Rounds of a search by halving",
)


def halving_rounds(nodes: Count) -> Count:
    """Return the rounds in which halving a slow group, again and again, leaves single nodes.

    Derived: every round halves the nodes that may be bad, and an odd number rounds up. Limit: the
    most it takes; a node in the smaller half of an odd group may be found one round earlier.
    """
    return (nodes - 1).bit_length()


PAIR_TESTS = Equation(
    name="pair_tests",
    tex=r"\v{t} = \left\lfloor \frac{\v{N}}{2} \right\rfloor + 2",
    symbols={"t": ("t", "tests of pairs"), "N": ("N", "nodes")},
    title="Tests of a search by pairs",
)


def pair_tests(nodes: Count) -> Count:
    """Return the tests of pairs that find one bad node: all pairs, then both of the slow pair.

    Derived. Of an odd number, the last node is tested with one that was in another pair, at the
    same time as the slow pair's two, if no pair is slow. Limit: one bad node.
    """
    return math.floor(nodes / 2) + 2
