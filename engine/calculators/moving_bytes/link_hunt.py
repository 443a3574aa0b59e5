"""Link hunt: sixteen nodes, a hidden fault, and tests that the reader chooses."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Compact
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import BANDWIDTH, MICRO, Bandwidth, Count, Ratio
from engine.core.views import Badge, CalculatorLink, Cell, Challenge, Condition, Table
from engine.draw.group_board import group_scene, group_words
from engine.formulas.retransmission import go_back_n_goodput, round_trip_packets
from engine.simulate.collectives.link_hunt import (
    PORT_BANDWIDTH,
    FaultyCluster,
    Group,
    TestRound,
    next_groups,
    run_tests,
    suspect_nodes,
)

_PART = re.compile(r"(\d{1,4})(?:-(\d{1,4}))?$")
MOST_ROUNDS: Count = 12


def read_rounds(text: str, nodes: Count) -> tuple[tuple[Group, ...], ...]:
    """Return the groups of every round.

    Raises:
        ValueError: the text is no such line; the message says what and what is allowed.
    """
    if not text.strip():
        return ()
    rounds = tuple(
        tuple(_parse_group(word, nodes) for word in part.split()) for part in text.split(";")
    )
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


def _parse_group(word: str, nodes: Count) -> Group:
    members: list[int] = []
    for part in word.split("+"):
        match = _PART.match(part)
        if not match:
            raise ValueError(f"'{part[:20]}' is no node and no range of nodes; allowed: 3 or 0-7")
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last < nodes:
            raise ValueError(f"'{part}' is not among the nodes; allowed: 0 to {nodes - 1}")
        members += range(first, last + 1)
    if len(members) < 2:
        raise ValueError(f"'{word}' is a single node; an all-reduce needs two or more")
    return tuple(members)


def write_rounds(rounds: Sequence[Sequence[Group]]) -> str:
    """Return rounds as a line of text."""
    return "; ".join(" ".join(map(_group_text, groups)) for groups in rounds)


def _group_text(group: Group) -> str:
    if len(group) > 2 and group == tuple(range(group[0], group[-1] + 1)):
        return f"{group[0]}-{group[-1]}"
    return "+".join(map(str, group))


NODES: Count = 16
# One packet in a hundred lost, sent again by going back over a round trip of 10 us.
_LOSSY: Ratio = go_back_n_goodput(1e-2, round_trip_packets(PORT_BANDWIDTH, 10 * MICRO, 4096.0))
_UPLINKS = "uplinks"
# Cluster -> what is wrong with it.
CASES: Mapping[str, tuple[str, tuple[tuple[int, Ratio], ...], tuple[tuple[int, Ratio], ...]]] = {
    "1": ("a port at a quarter of its speed", ((6, 0.25),), ()),
    "2": ("a cable that loses one packet in a hundred", ((13, _LOSSY),), ()),
    "3": ("two ports, at a half and at a quarter", ((4, 0.5), (9, 0.25)), ()),
    "4": ("uplinks of a leaf switch, nearly all of them down", (), ((1, 0.04),)),
}
_NOBODY = "none"
_ACCUSED = {_NOBODY: "I do not know yet"} | {str(node): f"node {node}" for node in range(NODES)}
_PLAYED = (
    "Two leaf switches with 8 nodes each. One 400 Gb/s port of every node takes part, in rings of "
    "4 GiB; groups of a round run at the same time. Slow is below 90 % of a healthy one (chosen).",
)


def _parse(text: str) -> object:
    return read_rounds(text, NODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    cluster: Annotated[
        str, Choice(label="Cluster", options={key: f"cluster {key}" for key in CASES})
    ] = "1"
    tests: Annotated[
        str,
        Compact(
            label="Tests so far",
            parse=_parse,
            description="rounds of groups, or nothing",
            example="0-15; 0-7 8-15; 0+1 2+3 4+5 6+7",
            help="Rounds are separated by semicolons, groups by spaces: 0-7 8-15; 3+0 2+1.",
        ),
    ] = "0-15"
    accused: Annotated[
        str,
        Choice(label="The culprit is", options=_ACCUSED | {_UPLINKS: "the links between leaves"}),
    ] = _NOBODY
    second: Annotated[
        str, Choice(label="A second culprit", options={**_ACCUSED, _NOBODY: "there is none"})
    ] = _NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The tests that were made, and whether the accusation is right."""

    rounds: tuple[TestRound, ...]
    halves: tuple[Group, ...]
    named: frozenset[str]
    guilty: frozenset[str]
    fault: str
    num_rounds: Annotated[Count, Output("Rounds so far", "", "", "data", _PLAYED, (), "simulated")]
    num_tests: Annotated[Count, Output("Groups tested", assumes=_PLAYED, basis="simulated")]
    left: Annotated[
        Count,
        Output("Nodes under suspicion", "", "in no healthy group yet, and in a slow one",
             "communication", _PLAYED, (), "simulated"),
    ]  # fmt: skip
    slowest: Annotated[
        Bandwidth,
        Output("Slowest group", "", "bus bandwidth of one port", "communication", _PLAYED,
             ("nccl_tests",), "simulated"),
    ]  # fmt: skip


def solve(inputs: Inputs) -> Result:
    """Return the results of the tests."""
    fault, ports, uplinks = CASES[inputs.cluster]
    cluster = FaultyCluster(nodes=NODES, ports=ports, uplinks=uplinks)
    rounds = tuple(run_tests(cluster, groups) for groups in read_rounds(inputs.tests, NODES))
    tests = [test for tests_of_round in rounds for test in tests_of_round]
    guilty = {str(node) for node, _ in ports} | ({_UPLINKS} if uplinks else set())
    return Result(
        rounds=rounds,
        halves=next_groups(NODES, rounds),
        named=frozenset({inputs.accused, inputs.second} - {_NOBODY}),
        guilty=frozenset(guilty),
        fault=fault,
        num_rounds=len(rounds),
        num_tests=len(tests),
        left=len(suspect_nodes(NODES, rounds)),
        slowest=min((test.reached for test in tests), default=PORT_BANDWIDTH),
    )


TITLE = "Hunt for a bad link"
QUESTION = "Which groups do I test to find a bad link?"
HEADLINE = "left"
EQUATIONS = ()
_NAME = "link_hunt"


def views(inputs: Inputs, result: Result) -> Views:
    """Return the board, the suggested tests, and the verdict."""
    present = Presenter(result, inputs)
    return {
        "board": partial(group_scene, NODES, result.rounds, "Tests so far"),
        "verdict": _verdict(present, result),
        "next": partial(_next_tests, inputs, result),
        **present.values("num_rounds", "num_tests", "left", "slowest"),
        "results": partial(_result_table, result),
        "challenge": _challenge(inputs, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    named, guilty = result.named, result.guilty
    slow = any(test.slow for tests in result.rounds for test in tests)
    if not named and slow and not result.left:
        return Badge(
            text="No node is left",
            sentence="Every node was in a healthy group, and some group is slow all the same: look "
            "at what lies between the nodes.",
        )
    if not named:
        return Badge(
            text="Unsolved",
            sentence=present.say("Under suspicion after {num_rounds} rounds: {left} nodes."),
        )
    if named == guilty:
        return Badge(
            text="Right",
            sentence=present.say(f"It is {result.fault}. You needed {{num_rounds}} rounds."),
            color="data",
        )
    if named < guilty:
        return Badge(text="Half of it", sentence="That one is guilty, and it is not alone.",
                     color="communication")  # fmt: skip
    words = "One of those is innocent." if named & guilty else "It is none of those that you named."
    return Badge(text="Not guilty", sentence=words, color="communication")


def _next_tests(inputs: Inputs, result: Result) -> Table:
    """Return tests to make next, each as a link that makes them."""
    done = read_rounds(inputs.tests, NODES)
    everyone: Group = tuple(range(NODES))
    pairs = tuple((node, node + 1) for node in range(0, NODES, 2))
    # The distance of half of the nodes: each pair crosses from one leaf to the other.
    across = tuple((node, node + NODES // 2) for node in range(NODES // 2))
    offers: dict[str, tuple[Group, ...]] = {
        "All nodes together": (everyone,),
        "Halves of every slow group": result.halves,
        "Neighbors in pairs": pairs,
        "Pairs across the two leaves": across,
    }
    rows: list[tuple[Cell, ...]] = []
    if len(done) < MOST_ROUNDS:
        rows += [
            (
                CalculatorLink(
                    name, _NAME, f"{_NAME}.tests={_encode_rounds((*done, groups))}", keeps=True
                ),
                " | ".join(group_words(group) for group in groups),
            )
            for name, groups in offers.items()
            if groups
        ]
    rows.append(
        (CalculatorLink("Begin again", _NAME, f"{_NAME}.tests=", keeps=True), "no test yet")
    )
    return Table(
        title="Test next",
        columns=("Press one", "Groups, all at the same time"),
        rows=tuple(rows),
        caption="Or type groups of your own into the box. A single node cannot be tested: it gets "
        "a partner that was in a healthy group.",
    )


def _encode_rounds(rounds: tuple[tuple[Group, ...], ...]) -> str:
    """Return rounds as they stand in an address."""
    return write_rounds(rounds).replace(" ", "%20").replace(";", "%3B").replace("+", "%2B")


def _result_table(result: Result) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            f"{number}",
            group_words(test.group),
            say("{b}", b=(test.reached, BANDWIDTH)),
            say("{b}", b=(test.expected, BANDWIDTH)),
            "slow" if test.slow else "healthy",
        )
        for number, tests in enumerate(result.rounds)
        for test in tests
    ]
    return Table(
        title="What every group reached",
        columns=("Round", "Nodes", "Bus bandwidth", "When healthy", "Verdict"),
        rows=tuple(rows),
    )


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    return Challenge(
        title="Challenge: two culprits, at most five rounds",
        goal="Something is wrong with cluster 3, and it is not one thing. Name everything that is, "
        "with at most five rounds of tests, the one with all nodes included.",
        conditions=(
            Condition(text="cluster 3", met=inputs.cluster == "3"),
            Condition(text="everything named that is wrong", met=result.named == result.guilty),
            Condition(text="at most five rounds", met=0 < result.num_rounds <= 5),
        ),
        hints=(
            "If both halves of a group are slow, something is wrong with both.",
            "You can go on with several slow groups in one round.",
            "In the last round, every suspect needs a partner of its own that is known to be "
            "healthy.",
        ),
        start={"cluster": "3", "tests": "0-15", "accused": "none", "second": "none"},
        solution={
            "cluster": "3",
            "tests": "0-15; 0-7 8-15; 0-3 4-7 8-11 12-15; 4+5 6+7 8+9 10+11; 4+0 5+1 8+2 9+3",
            "accused": "4",
            "second": "9",
        },
    )
