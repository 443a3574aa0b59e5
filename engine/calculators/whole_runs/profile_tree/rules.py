"""The rules of the tree, from the job down to the port; a limit without a source is ours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.core.text import say
from engine.core.units import BANDWIDTH, COUNT, SHARE, Quantity, Ratio, Share
from engine.core.views import CalculatorLink, Cell, Citation, Table
from engine.form.commands import COMMANDS, LAYERS
from engine.simulate.data_parallel.peak_account import JobReadings

# Of the ports' bandwidth that a large all-reduce reaches between healthy nodes.
_REACHED: Share = 0.8
_OVERLAP, _SKEW, _EFFICIENT = 0.1, 0.03, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Node of the tree of causes.

    Attributes:
        parent: the node whose guilt leads here; empty at the top.
        layer: of the machine.
        question: that it asks.
        reading: what answers it.
        quantity: of the reading.
        limit: in words.
        guilty: whether the reading breaks the limit.
        loss: the share of the step, or of the peak, that it explains.
        cause: what it probably is.
        tool: of the command builder, to measure next.
        sources: of the limit; none if it is ours.
    """

    parent: str = ""
    layer: str
    question: str
    reading: Callable[[JobReadings], Ratio]
    quantity: Quantity = SHARE
    limit: str
    guilty: Callable[[JobReadings], bool]
    loss: Callable[[JobReadings], Share]
    cause: str
    tool: str
    sources: tuple[str, ...] = ()


def _slow_wires(m: JobReadings) -> bool:
    return m.busbw < _REACHED * m.ports


def _wire_loss(m: JobReadings) -> Share:
    """Return the exposed time that wires of the usual speed would save, at least."""
    return m.exposed * max(0.0, 1 - m.busbw / (_REACHED * m.ports))


def _unexplained_wait(m: JobReadings) -> bool:
    """Return whether nothing below explains the exposed communication."""
    others = m.skew > _SKEW or _slow_wires(m) or _spins(m)
    return m.exposed > _OVERLAP and not others


def _spins(m: JobReadings) -> bool:
    """Return whether a kernel runs all the time and hardly any of them computes."""
    return m.utilization > 0.95 and m.tensor_active < 0.1


RULES = {
    "loading": Rule(
        layer="job",
        question="Does the step wait for a batch?",
        reading=lambda m: m.loading,
        limit="at most 1 %",
        guilty=lambda m: m.loading > 0.01,
        loss=lambda m: m.loading,
        cause="The data loader starves: too few workers, slow storage, work on the CPU.",
        tool="torch_profiler",
    ),
    "bubble": Rule(
        layer="job",
        question="Are stages of the pipeline idle?",
        reading=lambda m: m.bubble,
        limit="at most 10 %",
        guilty=lambda m: m.bubble > 0.1,
        loss=lambda m: m.bubble,
        cause="Too few micro-batches for the stages, or stages that are not alike.",
        tool="torch_profiler",
    ),
    "exposed": Rule(
        layer="job",
        question="Does computing wait for communication?",
        reading=lambda m: m.exposed,
        limit="at most 10 %",
        guilty=lambda m: m.exposed > _OVERLAP,
        loss=lambda m: m.exposed,
        cause="Communication is exposed; the branches below say whose fault it is.",
        tool="hta",
    ),
    "skew": Rule(
        parent="exposed",
        layer="collectives",
        question="Does one rank come late?",
        reading=lambda m: m.skew,
        limit="at most 3 %",
        guilty=lambda m: m.skew > _SKEW,
        loss=lambda m: min(m.exposed, m.skew * m.computing),
        cause="A slow rank: a hot GPU, a lower clock, uneven work. The others wait for it.",
        tool="hta",
    ),
    "busbw": Rule(
        parent="exposed",
        layer="collectives",
        question="Is a large all-reduce slow by itself?",
        reading=lambda m: m.busbw,
        quantity=BANDWIDTH,
        limit="80 % of the ports or more",
        guilty=_slow_wires,
        loss=_wire_loss,
        cause="Slow wires: a bad link, congestion, a wrong adapter, or no RDMA.",
        tool="nccl_tests",
        sources=("nccl_tests",),
    ),
    "link": Rule(
        parent="busbw",
        layer="infiniband",
        question="Does a port count errors?",
        reading=lambda m: m.link_errors,
        quantity=COUNT,
        limit="none",
        guilty=lambda m: m.link_errors > 0,
        loss=_wire_loss,
        cause="A cable, a transceiver or a port: every ring through it waits.",
        tool="perfquery",
        sources=("ib_counters",),
    ),
    "utilization": Rule(
        parent="exposed",
        layer="gpu",
        question="Full utilization, empty tensor cores?",
        reading=lambda m: m.tensor_active,
        limit="10 % or more at full utilization",
        guilty=_spins,
        loss=lambda m: m.exposed,
        cause="A kernel runs and does nothing: most likely a collective that waits.",
        tool="flight_recorder",
        sources=("nvml_utilization", "dcgm_profiling"),
    ),
    "overlap": Rule(
        parent="exposed",
        layer="job",
        question="Is it only the schedule?",
        reading=lambda m: m.exposed,
        limit="at most 10 %, if nothing beside it is guilty",
        guilty=_unexplained_wait,
        loss=lambda m: m.exposed,
        cause="The schedule: buckets, prefetch or blocking calls leave nothing to hide behind.",
        tool="torch_profiler",
    ),
    "gaps": Rule(
        layer="kernels",
        question="Does the GPU wait for the CPU?",
        reading=lambda m: m.gaps,
        limit="at most 3 %",
        guilty=lambda m: m.gaps > 0.03,
        loss=lambda m: m.gaps,
        cause="Launch-bound: many short kernels, or calls that make the CPU wait.",
        tool="nsys",
    ),
    "efficiency": Rule(
        layer="kernels",
        question="Are kernels slow while they run?",
        reading=lambda m: m.efficiency,
        limit="50 % of the peak or more",
        guilty=lambda m: m.efficiency < _EFFICIENT,
        loss=lambda m: max(0.0, _EFFICIENT - m.efficiency) * m.computing * m.clock,
        cause="Small products, unfused elementwise kernels, slow attention, a wrong data type.",
        tool="ncu",
    ),
    "sm_active": Rule(
        parent="efficiency",
        layer="gpu",
        question="Do SMs stand empty?",
        reading=lambda m: m.sm_active,
        limit="80 % or more",
        guilty=lambda m: m.sm_active < 0.8,
        loss=lambda m: max(0.0, _EFFICIENT - m.efficiency) * m.computing * m.clock,
        cause="Too little work for all SMs, or a collective that spins on a few of them.",
        tool="dcgmi",
        sources=("dcgm_profiling",),
    ),
    "clock": Rule(
        layer="gpu",
        question="Is the clock held down?",
        reading=lambda m: m.clock,
        limit="90 % or more",
        guilty=lambda m: m.clock < 0.9,
        loss=lambda m: m.slowed,
        cause="Power limit or heat.",
        tool="nvidia_smi",
    ),
}


# Tree of causes: guilty nodes, their order, and open branches.


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
