"""Published steps of Llama 2 with HSDP and with full sharding, measured beside modelled."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import COUNT, SECONDS, SHARE, Seconds, Share
from engine.core.views import Axis, Bar, Bars, Segment, Table
from engine.simulate.step.published_runs import PredictedRun, predictions

TITLE = "HSDP and full sharding, measured"
QUESTION = "How long does a published step take with a copy in each node, and with one copy?"
HEADLINE = "measured"
PRESETS = {"One copy over all": {"shown": "full"}, "All": {"shown": "all"}}
_FILE = "fms_fsdp_llama.csv"
_ASSUMES = (
    "The model's step time of the published configuration; the run is among those that its "
    "constants were fitted to.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    shown: Annotated[
        str,
        Choice(
            label="Runs",
            options={"all": "all", "node": "HSDP in a node", "full": "full sharding"},
        ),
    ] = "node"


def _time(label: str, note: str, basis: str) -> Output:
    sources = ("fms_fsdp",)
    return Output(
        label, "", note, "compute", _ASSUMES if basis == "modelled" else (), sources, basis
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The runs, and the first with a copy in each node."""

    runs: tuple[PredictedRun, ...]
    measured: Annotated[
        Seconds, _time("Llama 2 7B, HSDP, measured", "128 A100, 400 Gb/s per node", "measured")
    ]
    modelled: Annotated[Seconds, _time("The same, modeled", "", "modelled")]
    worst: Annotated[Share, _time("Largest error", "of the runs shown", "modelled")]


def _is_hybrid(run: PredictedRun) -> bool:
    return bool(run.case.run.plan.shard_group)


def solve(inputs: Inputs) -> Result:
    """Return the runs that the reader chose."""
    known = tuple(run for run in predictions() if run.case.row["source_file"] == _FILE)
    runs = tuple(
        run for run in known if inputs.shown == "all" or _is_hybrid(run) == (inputs.shown == "node")
    )
    first = next(run for run in known if _is_hybrid(run))
    return Result(
        runs=runs,
        measured=first.case.time,
        modelled=first.time,
        worst=max(abs(run.error) for run in runs),
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "bars": partial(_bars, result),
        **present.values("measured", "modelled", "worst"),
        "table": partial(_table, result),
    }


def _name(run: PredictedRun) -> str:
    how = "HSDP" if _is_hybrid(run) else "full"
    compiled = ", compiled" if "compile=yes" in run.case.row["precision"] else ""
    return f"{run.case.row['model'].partition(' (')[0]}, {how}{compiled}"


def _bars(result: Result) -> Bars:
    bars = []
    for run in result.runs:
        tokens = run.case.run.training.global_batch_size / 128
        for kind, time, color in (
            ("measured", run.case.time, "ink"),
            ("modeled", run.time, "compute"),
        ):
            bars.append(
                Bar(
                    key=f"{run.case.row['row_id']}-{kind}",
                    label=f"{_name(run)}, {kind}",
                    segments=(Segment(key=kind, label=kind, value=time / tokens, color=color),),
                )
            )
    high = 1.05 * max(segment.value for bar in bars for segment in bar.segments)
    return Bars(
        title="Time of a step for each sequence of 4,096 tokens on a GPU",
        axis=Axis(label="time", quantity=SECONDS, low=0.0, high=high),
        bars=tuple(bars),
        caption="128 A100 in 16 nodes with 400 Gb/s of network for each node.",
    )


def _table(result: Result) -> Table:
    rows = []
    for run in result.runs:
        sign = "+" if run.error >= 0 else "−"
        row = run.case.row
        rows.append(
            (
                _name(run),
                say("{n}", n=(int(row["mbs"]), COUNT)),
                row["recompute"],
                "yes" if "compile=yes" in row["precision"] else "no",
                say("{t}", t=(run.case.time, SECONDS)),
                say("{t}", t=(run.time, SECONDS)),
                say(f"{sign}{{o}}", o=(abs(run.error), SHARE)),
            )
        )
    return Table(
        title="Measured beside modeled",
        columns=(
            "Run",
            "Sequences per GPU",
            "Recomputed",
            "Compiled",
            "Measured",
            "Modeled",
            "Off by",
        ),
        rows=tuple(rows),
    )
