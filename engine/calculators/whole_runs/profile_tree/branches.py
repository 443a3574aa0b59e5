"""Tree of causes: guilty nodes, their order, and open branches."""

from collections.abc import Sequence

from engine.calculators.whole_runs.profile_tree.rules import RULES, Rule
from engine.core.text import say
from engine.core.units import SHARE
from engine.core.views import CalculatorLink, Cell, Citation, Table
from engine.form.commands.all import COMMANDS
from engine.form.commands.command import LAYERS
from engine.simulate.data_parallel.peak_account import JobReadings


def guilty_nodes(m: JobReadings) -> list[str]:
    """Return the causes, largest loss first; children before their parents."""
    nodes = [key for key, rule in RULES.items() if rule.guilty(m) and is_open(key, m)]
    leaves = [key for key in nodes if not any(RULES[other].parent == key for other in nodes)]
    return sorted(leaves, key=lambda key: -RULES[key].loss(m))


def is_open(key: str, m: JobReadings) -> bool:
    """Return whether all nodes above are guilty."""
    parent = RULES[key].parent
    return not parent or (RULES[parent].guilty(m) and is_open(parent, m))


def top_node(key: str) -> str:
    """Return the node at the top of the branch."""
    while RULES[key].parent:
        key = RULES[key].parent
    return key


def causes(m: JobReadings, nodes: Sequence[str]) -> Table:
    """Return the probable causes in order."""
    rows: list[tuple[Cell, ...]] = [
        (
            say("{q}", q=(RULES[key].loss(m), SHARE)),
            LAYERS[RULES[key].layer],
            RULES[key].cause,
            _link(RULES[key]),
        )
        for key in nodes
    ]
    return Table(
        title="Probable causes",
        columns=("Takes", "Layer", "Cause", "Measure next"),
        rows=tuple(rows) or (("nothing", "none", "No limit is broken.", ""),),
        links=tuple((f"tool:{RULES[key].tool}",) for key in nodes) or ((),),
    )


def _link(rule: Rule) -> CalculatorLink:
    name = COMMANDS[rule.tool].name
    return CalculatorLink(name, "command_builder", f"command_builder.tool={rule.tool}", keeps=True)


def tree(m: JobReadings, *, everything: bool) -> Table:
    """Return the nodes of the tree that are open, from the job down."""
    shown = [key for key in _ordered("") if everything or is_open(key, m)]
    rows: list[tuple[Cell, ...]] = []
    for key in shown:
        rule = RULES[key]
        verdict = "not asked" if not is_open(key, m) else "guilty" if rule.guilty(m) else "in order"
        rows.append(
            (
                "↳ " * _depth(key) + rule.question,
                verdict,
                say("{v}", v=(rule.reading(m), rule.quantity)),
                rule.limit,
                Citation(rule.sources) if rule.sources else "our limit",
            )
        )
    return Table(
        title="The tree",
        columns=("Question", "Verdict", "Reading", "Healthy", "Source"),
        rows=tuple(rows),
        caption="A question opens those below it when its answer is bad.",
        links=tuple((f"tool:{RULES[key].tool}",) for key in shown),
    )


def _ordered(parent: str) -> list[str]:
    """Return the nodes below `parent`, each followed by its own."""
    return [
        name
        for key, rule in RULES.items()
        if rule.parent == parent
        for name in (key, *_ordered(key))
    ]


def _depth(key: str) -> int:
    return 1 + _depth(RULES[key].parent) if RULES[key].parent else 0
