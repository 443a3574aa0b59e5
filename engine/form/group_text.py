"""Rounds of tests as a line of text: "0-15; 0-7 8-15; 10+0 11+1"."""

import re
from collections.abc import Sequence

from engine.core.units import Count
from engine.simulate.collectives.link_hunt import Group

_PART = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?$")
MOST_ROUNDS: Count = 12


def read_rounds(text: str, nodes: Count) -> tuple[tuple[Group, ...], ...]:
    """Return the groups of every round.

    Raises:
        ValueError: the text is no such line; the message says what and what is allowed.
    """
    if not text.strip():
        return ()
    rounds = tuple(tuple(_group(word, nodes) for word in part.split()) for part in text.split(";"))
    if () in rounds:
        raise ValueError(f"round {rounds.index(()) + 1} tests no group; allowed: 0-7 8-15; 0-3 4-7")
    if len(rounds) > MOST_ROUNDS:
        raise ValueError(f"{len(rounds)} rounds of tests; allowed: at most {MOST_ROUNDS}")
    for number, groups in enumerate(rounds, start=1):
        every = [node for group in groups for node in group]
        twice = sorted({node for node in every if every.count(node) > 1})
        if twice:
            raise ValueError(
                f"round {number}: node {twice[0]} is there twice; a node can be in one group only"
            )
    return rounds


def _group(word: str, nodes: Count) -> Group:
    found: list[int] = []
    for part in word.split("+"):
        match = _PART.match(part)
        if not match:
            raise ValueError(f"'{part[:20]}' is no node and no range of nodes; allowed: 3 or 0-7")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < nodes:
            raise ValueError(f"'{part}' is not among the nodes; allowed: 0 to {nodes - 1}")
        found += range(first, last + 1)
    if len(found) < 2:
        raise ValueError(f"'{word}' is a single node; an all-reduce needs two or more")
    return tuple(found)


def write_rounds(rounds: Sequence[Sequence[Group]]) -> str:
    """Return rounds as a line of text."""
    return "; ".join(" ".join(map(_word, groups)) for groups in rounds)


def _word(group: Group) -> str:
    if len(group) > 2 and group == tuple(range(group[0], group[-1] + 1)):
        return f"{group[0]}-{group[-1]}"
    return "+".join(map(str, group))
