"""Link hunt: what the reader can change, and what the tests show."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from engine.core.inputs import Choice, Compact
from engine.core.outputs import Told
from engine.core.units import MICRO, Bandwidth, Count, Ratio
from engine.form.group_text import read_rounds
from engine.formulas.retransmission import go_back_n_goodput, round_trip_packets
from engine.simulate.collectives.link_hunt import (
    PORT,
    Cluster,
    Group,
    Round,
    next_groups,
    run_tests,
    suspects,
)

NODES: Count = 16
# One packet in a hundred lost, sent again by going back over a round trip of 10 us.
_LOSSY: Ratio = go_back_n_goodput(1e-2, round_trip_packets(PORT, 10 * MICRO, 4096.0))
_BETWEEN = "uplinks"
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
    """What the reader can change."""

    cluster: Annotated[
        str, Choice(label="Cluster", options={key: f"cluster {key}" for key in CASES})
    ] = "1"
    tests: Annotated[
        str,
        Compact(
            label="Tests so far",
            parse=_parse,
            what="rounds of groups, or nothing",
            example="0-15; 0-7 8-15; 0+1 2+3 4+5 6+7",
            help="Rounds are separated by semicolons, groups by spaces: 0-7 8-15; 3+0 2+1.",
        ),
    ] = "0-15"
    accused: Annotated[
        str,
        Choice(label="The culprit is", options=_ACCUSED | {_BETWEEN: "the links between leaves"}),
    ] = _NOBODY
    second: Annotated[
        str, Choice(label="A second culprit", options={**_ACCUSED, _NOBODY: "there is none"})
    ] = _NOBODY


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The tests that were made, and whether the accusation is right."""

    rounds: tuple[Round, ...]
    halves: tuple[Group, ...]
    named: frozenset[str]
    guilty: frozenset[str]
    fault: str
    num_rounds: Annotated[Count, Told("Rounds so far", "", "", "data", _PLAYED, (), "simulated")]
    num_tests: Annotated[Count, Told("Groups tested", assumes=_PLAYED, basis="simulated")]
    left: Annotated[
        Count,
        Told("Nodes under suspicion", "", "in no healthy group yet, and in a slow one",
             "communication", _PLAYED, (), "simulated"),
    ]  # fmt: skip
    slowest: Annotated[
        Bandwidth,
        Told("Slowest group", "", "bus bandwidth of one port", "communication", _PLAYED,
             ("nccl_tests",), "simulated"),
    ]  # fmt: skip


def solve(inputs: Inputs) -> Result:
    """Return what the tests show."""
    fault, ports, uplinks = CASES[inputs.cluster]
    cluster = Cluster(nodes=NODES, ports=ports, uplinks=uplinks)
    rounds = tuple(run_tests(cluster, groups) for groups in read_rounds(inputs.tests, NODES))
    tests = [test for one in rounds for test in one]
    guilty = {str(node) for node, _ in ports} | ({_BETWEEN} if uplinks else set())
    return Result(
        rounds=rounds,
        halves=next_groups(NODES, rounds),
        named=frozenset({inputs.accused, inputs.second} - {_NOBODY}),
        guilty=frozenset(guilty),
        fault=fault,
        num_rounds=len(rounds),
        num_tests=len(tests),
        left=len(suspects(NODES, rounds)),
        slowest=min((test.reached for test in tests), default=PORT),
    )
