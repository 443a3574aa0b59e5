"""Halving search: locate a slow port among a few nodes by all-reduce tests on halves."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import PERCENT, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, Bandwidth, Count, Ratio
from engine.core.views import Badge, Line, Lines, Scale
from engine.draw.group_board import group_scene, group_words
from engine.formulas.group_tests import HALVING_ROUNDS, PAIR_TESTS, halving_rounds, pair_tests
from engine.simulate.collectives.link_hunt import FaultyCluster, SlowPortSearch, search_by_halves

TITLE = "Halving a slow group"
QUESTION = "Which node slows the all-reduce down?"
HEADLINE = "halvings"
EQUATIONS = (HALVING_ROUNDS, PAIR_TESTS)
NODES: Count = 16
_FEWEST, _MOST = 4, 4096
PRESETS = {
    "A port that sends at half of its speed": {"left": 0.5},
    "Two slow ports": {"node": 3, "second": 12},
    "Hardly slower": {"left": 0.92},
}
_PLAYED = (
    "16 nodes under one leaf switch, one 400 Gb/s port of each; rings of 4 GiB, all groups of a "
    "round at the same time. A group is slow below 90 % of what it reaches when healthy (chosen).",
)
_SIZES = tuple(2**power for power in range(2, 13))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    node: Annotated[int, Number(label="The slow port is on node", low=0, high=15, whole=True)] = 11
    left: Annotated[
        float, Number(label="Its remaining speed", unit=PERCENT, low=0.05, high=1.0, step=0.01)
    ] = 0.25
    second: Annotated[
        int,
        Number(
            label="A second one on node", low=-1, high=15, whole=True, help="−1: there is none."
        ),
    ] = -1
    cluster: Annotated[
        int,
        Number(
            label="Nodes of a large cluster",
            low=_FEWEST,
            high=_MOST,
            scale="log2",
            whole=True,
            symbol="N",
        ),
    ] = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The search, and how such searches grow: for `_SIZES`, rounds of halves and tests of pairs."""

    hunt: SlowPortSearch
    whole: Annotated[
        Bandwidth,
        Output("All nodes together", "", "{healthy} if nothing were slow", "communication", _PLAYED,
             ("nccl_tests", "bertsekas1992"), "simulated"),
    ]  # fmt: skip
    healthy: Bandwidth
    halvings: Annotated[
        Count,
        Output("Rounds of halving", "", "after the one that tests all", "data", _PLAYED, (),
             "simulated"),
    ]  # fmt: skip
    tests: Annotated[Count, Output("Groups tested", assumes=_PLAYED, basis="simulated")]
    grown: tuple[tuple[Count, Count], ...]
    rounds: Annotated[
        Count,
        Output("Rounds in the large cluster", "r", "with one slow node", "data", of="cluster"),
    ]
    pairs: Annotated[
        Count, Output("Tests, if pairs are tested", "t", "in two rounds", of="cluster")
    ]
    single: Annotated[
        Count,
        Output("Tests, one node at a time", note="each beside the same partner",
             assumes=("Every node but the partner, the slow one last.",)),
    ]  # fmt: skip


def solve(inputs: Inputs) -> Result:
    """Return the search that halves."""
    ports = {inputs.node: inputs.left}
    if inputs.second >= 0:
        ports.setdefault(inputs.second, inputs.left)
    slow = tuple((node, share) for node, share in sorted(ports.items()) if share < 1)
    hunt = search_by_halves(FaultyCluster(nodes=NODES, per_leaf=NODES, ports=slow))
    whole = hunt.rounds[0][0]
    return Result(
        hunt=hunt,
        whole=whole.reached,
        healthy=whole.expected,
        halvings=hunt.halvings,
        tests=sum(len(tests) for tests in hunt.rounds),
        grown=tuple((halving_rounds(n), pair_tests(n)) for n in _SIZES),
        rounds=halving_rounds(inputs.cluster),
        pairs=pair_tests(inputs.cluster),
        single=inputs.cluster - 1,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the board, the verdict, and the chart of test counts."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "board": partial(group_scene, NODES, result.hunt.rounds, "Halving a slow group"),
        "verdict": _verdict(present, result),
        **present.values("whole", "halvings", "tests", "rounds", "pairs", "single"),
        "curve": partial(_curve, present, inputs, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    culprits = result.hunt.slow_nodes
    if not culprits:
        return Badge(
            text="Nothing stands out",
            sentence=present.say(
                "All nodes together reach {whole} of {healthy}. That is within what these tests "
                "count as healthy."
            ),
            color="data",
        )
    names = f"Node {culprits[0]}" if len(culprits) == 1 else f"Nodes {group_words(culprits)}"
    return Badge(
        text=names,
        sentence=present.say(
            f"{names} {'slows' if len(culprits) == 1 else 'slow'} every group that "
            f"{'it is' if len(culprits) == 1 else 'they are'} in. Found in {{halvings}} rounds of "
            "halving."
        ),
        color="communication",
    )


def _curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    lines: dict[str, tuple[str, tuple[Ratio, ...], str]] = {
        "halving": ("halving, rounds", tuple(rounds for rounds, _ in result.grown), "data"),
        "pairs": ("pairs, tests", tuple(pairs for _, pairs in result.grown), "pipeline"),
        "single": ("one at a time, tests", tuple(n - 1 for n in _SIZES), "communication"),
    }
    return present.curve(
        "Tests until one slow node is found",
        over=Scale(COUNT, "nodes", _FEWEST, _MOST, log=True),
        shows=Scale("rounds", "rounds, or tests", 1.0, 8192.0, log=True),
        x=_SIZES,
        lines=(Line(key, label, column, color) for key, (label, column, color) in lines.items()),
        handle="cluster",
        now=say("{r} rounds", r=(result.rounds, COUNT)),
        caption="Both axes are logarithmic. Pairs can all run at the same time: then they take two "
        "rounds, whatever the number of nodes.",
    )
