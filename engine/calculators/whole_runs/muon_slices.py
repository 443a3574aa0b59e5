"""Matrices that tensor parallelism splits: four ways to orthogonalize them, in time and bytes."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.catalog.models import MODELS
from engine.catalog.nodes import NODES
from engine.core.inputs import Choice, Number
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, OPERATIONS, SECONDS, Bytes, Count, Ratio, Seconds
from engine.core.views import Axis, Badge, Bar, Bars, Segment, Table
from engine.form.fields import OwnConstants
from engine.run.machines import cluster_of
from engine.run.parallelism import Plan, Training
from engine.simulate.layer.device_model import rank_rates
from engine.simulate.layer.layer_exchange import HALF
from engine.simulate.layer.muon_slices import MODES, SlicedWork, TensorMode, sliced_work
from engine.simulate.layer.orthogonal_work import MatrixShape, matrix_pools

TITLE = "Matrices that tensor parallelism splits"
QUESTION = "Which way to orthogonalize split matrices is the fastest, and which changes the update?"
HEADLINE = "faster"
EQUATIONS = ()
PRESETS = {
    "8B, two slices": {"model": "llama-3-8b", "tensor_parallel": 2},
    "The output projection": {"matrix": "out"},
    "A small matrix": {"model": "llama-3-8b", "matrix": "key"},
}
_MODELS = ("llama-3-8b", "llama-3-70b", "llama-3-405b")
_MACHINES = ("dgx-a100", "dgx-h100", "dgx-b200", "gb300-nvl72")
_NAMES: dict[TensorMode, str] = {
    "duplicated": "duplicated",
    "distributed": "distributed",
    "layer_sharded": "layer-sharded",
    "blockwise": "blockwise: a different update",
}
_ASSUMES = (
    "As many equal matrices as GPUs in the group, so that each GPU can take one.",
    "Five steps of Newton-Schulz in bf16; nothing overlaps, and launches cost nothing.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    tensor_parallel: Annotated[
        int,
        Number(label="Tensor parallel", low=2, high=8, scale="log2", whole=True, symbol="t"),
    ] = 8
    matrix: Annotated[
        str,
        Choice(
            label="Matrix",
            options={
                "up": "feed-forward, up",
                "down": "feed-forward, down",
                "query": "query",
                "key": "key",
                "out": "attention output",
            },
        ),
    ] = "up"
    model: Annotated[
        str, Choice(label="Model", cites=False, options={key: MODELS[key].name for key in _MODELS})
    ] = "llama-3-70b"
    machine: Annotated[
        str, Choice(label="Machine", options={key: NODES[key].name for key in _MACHINES})
    ] = "dgx-h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The four modes."""

    modes: dict[TensorMode, SlicedWork]
    times: dict[TensorMode, Seconds]
    shape: MatrixShape
    duplicated: Annotated[
        Seconds, Output("Duplicated", "", "every GPU all of them", "tensor", _ASSUMES)
    ]
    layer_sharded: Annotated[
        Seconds, Output("Layer-sharded", "", "every GPU one of them", "compute", _ASSUMES)
    ]
    faster: Annotated[
        Ratio,
        Output("Layer-sharded is faster by", "", "{sent} sent by each GPU", "compute", _ASSUMES),
    ]
    sent: Bytes
    group: Count


def solve(inputs: Inputs) -> Result:
    """Return the time and the bytes of every mode."""
    cluster = cluster_of(inputs.machine, inputs.own_constants)
    rank = rank_rates(
        cluster, Training(micro_batch_size=1, global_batch_size=1, sequence_length=1024)
    )
    ranks = inputs.tensor_parallel
    shapes = matrix_pools(MODELS[inputs.model], Plan(world_size=1))[0].shapes
    shape = next(candidate for candidate, _ in shapes if candidate.name == inputs.matrix)
    modes = {mode: sliced_work(((shape, ranks),), ranks, mode, rank, HALF) for mode in MODES}
    times = {mode: candidate.products + candidate.moved.time for mode, candidate in modes.items()}
    return Result(
        modes=modes,
        times=times,
        shape=shape,
        duplicated=times["duplicated"],
        layer_sharded=times["layer_sharded"],
        faster=times["duplicated"] / times["layer_sharded"],
        sent=modes["layer_sharded"].moved.sent,
        group=ranks,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the bars, the numbers behind them, and the fastest way that keeps the update."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        "bars": partial(_bars, result),
        **present.values("duplicated", "layer_sharded", "faster"),
        "best": _best_verdict(result),
        "table": partial(_table, result),
    }


def _best_verdict(result: Result) -> Badge:
    whole = {mode: time for mode, time in result.times.items() if mode != "blockwise"}
    best = min(whole, key=lambda mode: whole[mode])
    return Badge(
        text=f"The fastest with the same update: {_NAMES[best]}",
        sentence=say(
            "It takes {t}; blockwise takes {b} and orthogonalizes slices.",
            t=(whole[best], SECONDS),
            b=(result.times["blockwise"], SECONDS),
        ),
        color="compute",
    )


def _bars(result: Result) -> Bars:
    most = max(result.times.values())
    return Bars(
        title=f"{result.group} matrices of {result.shape.rows:,} by {result.shape.columns:,}",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=1.05 * most),
        bars=tuple(
            Bar(
                key=mode,
                label=name,
                segments=(
                    Segment(
                        key="products",
                        label="Newton-Schulz",
                        value=result.modes[mode].products,
                        color="compute",
                    ),
                    Segment(
                        key="moved",
                        label="waiting for numbers",
                        value=result.modes[mode].moved.time,
                        color="communication",
                    ),
                ),
            )
            for mode, name in _NAMES.items()
        ),
        caption="As many matrices as the group has GPUs. Blockwise does "
        "something else: it orthogonalizes slices.",
    )


def _table(result: Result) -> Table:
    rows = tuple(
        (
            name,
            say("{x}", x=(result.modes[mode].operations, OPERATIONS)),
            say("{x}", x=(result.modes[mode].moved.sent, BYTES)),
            say("{x}", x=(result.times[mode], SECONDS)),
        )
        for mode, name in _NAMES.items()
    )
    return Table(
        title="Work and bytes of each GPU",
        columns=("Mode", "Operations", "Sent", "Time"),
        rows=rows,
    )
