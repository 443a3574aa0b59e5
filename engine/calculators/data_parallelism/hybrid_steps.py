"""Hierarchical sharding step by step: 2 nodes of 2 GPUs, and the traffic between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.slices import Slices, run_to_end, step_progress
from engine.core.units import Bytes, Count, Ratio
from engine.core.views import Badge, Table
from engine.draw.shard_strips import Step, shard_scene
from engine.form.sharded.steps import HALF, SIZE, Place, equality_badge, log_table
from engine.formulas.node_volumes import NODE_BYTES, node_bytes_sent
from engine.formulas.states import MIXED_PRECISION, sharded_states
from engine.tiny.gathered import Sharding
from engine.tiny.zero_record import ZeroRecord, memory_of, node_record

_RANKS, _NODE = 4, 2
_SCHEMES: Mapping[str, str] = {
    "full": "over all four GPUs (ZeRO-3)",
    "second": "over all four, and a second copy in each node (hpZ)",
    "node": "inside each node (HSDP, MiCS)",
}
_COUNTED = ("Every message of the run was counted, at two bytes a number.",)
_SAID: Mapping[str, Mapping[str, str]] = {
    "full": {},
    "second": {
        "node_gather": "All-gather from the second copy: {n} numbers of the {part}, and none "
        "crosses between nodes.",
    },
    "node": {
        "gather": "All-gather inside each node: {n} numbers of the {part}, and none crosses.",
        "reduce_scatter": "Reduce-scatter of the {part} inside each node.",
        "all_reduce": "All-reduce between the nodes: each GPU adds its share of all gradients to "
        "that of its twin in the other node.",
    },
}
_REDUCTION = (
    "Reduce-scatter of the {part} inside each node, and an all-reduce of the shares between the "
    "nodes."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    scheme: Annotated[
        str,
        Choice(label="Sharded", options=_SCHEMES),
    ] = "node"
    sums: Annotated[
        str,
        Choice(
            label="Nodes add their gradients",
            options={"once": "once a step", "each": "with every micro-batch"},
            help="Where each node keeps a copy. In FSDP2: set_requires_all_reduce.",
        ),
    ] = "once"
    micro_batches: Annotated[
        int, Number(label="Micro-batches per step", low=1, high=2, whole=True)
    ] = 1
    place: Place = 110


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A step with the memory of a GPU and the bytes sent by a node, counted and by formula."""

    record: ZeroRecord
    step: Step
    size: Count = SIZE
    held: Annotated[
        Bytes,
        Output(
            "Held between steps",
            "",
            "on each GPU",
            "optimizer",
            assumes=("Counted in the run, at 2 bytes for parameters and gradients and 12 for the "
                     "optimizer's numbers; activations are left out.",),
            sources=("rajbhandari2020",),
            basis="simulated",
        ),
    ]  # fmt: skip
    peak: Annotated[
        Bytes,
        Output(
            "Held at most",
            "",
            "with what comes only for a while",
            "buffers",
            assumes=("Counted in the run.",),
            sources=("rajbhandari2020",),
            basis="simulated",
        ),
    ]
    crossed: Annotated[
        Bytes,
        Output(
            "Left node 0",
            "",
            "in the step, to the other node",
            "communication",
            assumes=_COUNTED,
            sources=("patarasuk2009",),
            basis="simulated",
        ),
    ]
    crossed_formula: Annotated[
        Bytes,
        Output(
            "By the formula",
            "V",
            "",
            "communication",
            assumes=(
                "Two bytes a number.",
                "The run gathers the output part once for both of its passes; the formula has "
                "twice.",
            ),
        ),
    ]
    full: Bytes
    less: Annotated[
        Ratio,
        Output(
            "ZeRO-3 sends between nodes",
            "",
            "what this scheme sends",
            "communication",
            assumes=("Both counted, with as many micro-batches.",),
            sources=("rajbhandari2020",),
            basis="simulated",
        ),
    ]
    shard: Annotated[Count, Output(symbol="s", of="scheme")]
    copies: Annotated[Count, Output(symbol="c", of="scheme")]
    node: Annotated[Count, Output(symbol="g")] = _NODE
    gathers: Annotated[Count, Output(symbol="a", of="scheme")]
    reductions: Annotated[Count, Output(symbol="r", of="micro_batches")]
    summed: Annotated[Count, Output(symbol="k", of="sums")]
    parameters: Annotated[Bytes, Output(symbol="P")] = SIZE * HALF
    gradients: Annotated[Bytes, Output(symbol="G")] = SIZE * HALF


def _sharding(inputs: Inputs) -> Sharding:
    return Sharding(
        shard=_NODE if inputs.scheme == "node" else _RANKS,
        gpus_per_node=_NODE,
        second=inputs.scheme == "second",
        sum_once=inputs.sums == "once",
    )


def solve(inputs: Inputs) -> Result:
    """Return the step."""
    return run_to_end(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Train a step with the chosen sharding, and a step sharded over all GPUs."""
    micro, sharding = inputs.micro_batches, _sharding(inputs)
    yield step_progress(1, 2, "Training")
    record = node_record(_RANKS, sharding, micro)
    yield step_progress(2, 2, "Training")
    everywhere = node_record(_RANKS, Sharding(shard=_RANKS, gpus_per_node=_NODE), micro)
    inside = inputs.scheme == "node"
    copies, size = _RANKS // sharding.shard, SIZE * HALF
    gathers = 0 if inside else micro * (1 if sharding.second else 2)
    reductions = 0 if inside else micro
    summed = (1 if sharding.sum_once else micro) if inside else 0
    memory, by_formula = memory_of(record)
    remarks = dict(_SAID[inputs.scheme])
    if inside and not sharding.sum_once:
        remarks["reduce_scatter"] = _REDUCTION
    crossed = tuple(now.crossed * HALF for now in record.trace)
    full = everywhere.trace[-1].crossed * HALF
    return Result(
        record=record,
        step=Step(
            trace=record.trace,
            memory=memory,
            whole=sharded_states(SIZE, MIXED_PRECISION, 0, 1).total,
            place=inputs.place - 1,
            off=record.off,
            per_node=_NODE,
            crossed=crossed,
            full=full,
            said=remarks,
        ),
        held=by_formula,
        peak=max(memory),
        crossed=crossed[-1],
        crossed_formula=node_bytes_sent(
            gathers * size, reductions * size, summed * size, sharding.shard, copies, _NODE
        ),
        full=full,
        less=full / crossed[-1],
        shard=sharding.shard,
        copies=copies,
        gathers=gathers,
        reductions=reductions,
        summed=summed,
    )


TITLE = "One step on two nodes, part by part"
QUESTION = "What crosses between nodes if each node keeps a copy of its own?"
HEADLINE = "held"
EQUATIONS = (NODE_BYTES,)
PRESETS = {
    "Full sharding": {"scheme": "full"},
    "A second copy in the node (hpZ)": {"scheme": "second"},
    "Two micro-batches, summed once": {"micro_batches": 2},
    "Two micro-batches, summed each time": {"micro_batches": 2, "sums": "each"},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "scene": partial(shard_scene, result.step),
        "equal": equality_badge(present, result.record.off),
        "verdict": _verdict(present, inputs),
        **present.values("held", "peak", "crossed", "crossed_formula", "less"),
        "log": partial(_event_table, result),
    }


def _verdict(present: Presenter, inputs: Inputs) -> Badge:
    if inputs.scheme == "node":
        return Badge(
            text="A copy in each node",
            sentence=present.say(
                "Only shares of the gradients cross: {crossed} instead of {full}."
            ),
            color="data",
        )
    if inputs.scheme == "second":
        return Badge(
            text="One gather stays inside",
            sentence=present.say("{crossed} cross instead of {full}. At most, a GPU holds {peak}."),
            color="data",
        )
    return Badge(
        text="One copy over all nodes",
        sentence=present.say("Each GPU holds only {held}, and {crossed} leave each node."),
        color="communication",
    )


def _event_table(result: Result) -> Table:
    step = result.step
    return log_table(
        step, "Every event, with bytes held by GPU 0 and sent by node 0 to node 1", step.crossed
    )
