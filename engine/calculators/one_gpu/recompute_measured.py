"""Recomputation measured: a layer's time with and without it, beside the engine's prediction."""

from dataclasses import dataclass
from typing import Annotated

from engine.catalog.measured_timings import LAYER_TIMES, OWN_DATE, OWN_LAYERS, SOURCE
from engine.catalog.models import MODELS
from engine.core.inputs import Choice
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import say
from engine.core.units import BYTES, SECONDS, SHARE, Bytes, Seconds, Share, with_digits
from engine.core.views import Axis, Bar, Bars, Citation, Segment, Table
from engine.simulate.step.published_runs import PredictedRun
from engine.simulate.step.recompute_measured import (
    PredictedLayer,
    predicted_kept_bytes,
    predicted_layers,
    recompute_runs,
)

TITLE = "Recomputation, measured"
QUESTION = "How much longer does a layer take if it is computed again?"
HEADLINE = "measured"
_LAYER = (
    "One layer of a GPT with 22 billion parameters on 8 A100: 64 heads, hidden size 6,144, 2,048 "
    "tokens, a micro-batch of 4, tensor parallelism over 8 GPUs.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    mode: Annotated[
        str,
        Choice(
            label="Computed again",
            options={key: row.name for key, row in LAYER_TIMES.items() if key != "none"},
        ),
    ] = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Measured and modeled time and memory of a recomputation mode, beside the plain layer.

    Attributes:
        rows: all ways, predicted.
        runs: whole steps, predicted.
        kept: what each of `OWN_LAYERS` keeps, modeled.
    """

    rows: dict[str, PredictedLayer]
    runs: tuple[PredictedRun, ...]
    kept: tuple[Bytes, ...]
    measured: Annotated[
        Share,
        Output(
            "Longer, measured",
            note="than a layer that recomputes nothing",
            color="compute",
            basis="measured",
            assumes=(*_LAYER, "{mode_time} instead of {plain_time}, both passes together."),
            sources=(SOURCE,),
        ),
    ]
    modelled: Annotated[
        Share,
        Output(
            "Longer, predicted",
            note="by the step model of all pages",
            color="compute",
            assumes=(
                *_LAYER,
                "Products, attention, element-wise kernels and the exposed collectives of tensor "
                "parallelism, of which full recomputation repeats those of the forward pass.",
            ),
            sources=(SOURCE,),
        ),
    ]
    forward_share: Annotated[
        Share,
        Output(
            "The forward pass, of both",
            basis="measured",
            assumes=(*_LAYER, "Measured, with nothing recomputed."),
            sources=(SOURCE,),
        ),
    ]
    mode_time: Seconds
    plain_time: Seconds


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    rows = predicted_layers()
    plain, mode = rows["none"], rows[inputs.mode]
    return Result(
        rows=rows,
        runs=recompute_runs(),
        kept=tuple(map(predicted_kept_bytes, OWN_LAYERS)),
        measured=mode.measured.total / plain.measured.total - 1,
        modelled=mode.total / plain.total - 1,
        forward_share=plain.measured.forward / plain.measured.total,
        mode_time=mode.measured.total,
        plain_time=plain.measured.total,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(inputs, result)
    return {
        **present.values("measured", "modelled", "forward_share"),
        "bars": _bars(inputs, result),
        "runs": _run_table(result),
        "kept": _kept_table(result),
    }


def _bars(inputs: Inputs, result: Result) -> Bars:
    bars = []
    for key, row in result.rows.items():
        if key not in ("none", inputs.mode):
            continue
        measured, time = row.measured, row.time
        bars.append(
            Bar(
                key=f"{key}-measured",
                label=f"{measured.name}: measured",
                segments=(
                    _part("forward", "forward", measured.forward, "compute"),
                    _part("backward", "backward", measured.backward, "gradients"),
                ),
            )
        )
        bars.append(
            Bar(
                key=f"{key}-modelled",
                label=f"{measured.name}: predicted",
                segments=(
                    _part("forward", "forward", time.forward, "compute"),
                    _part("backward", "backward", time.backward, "gradients"),
                    _part("again", "computed again", time.repeated, "activations"),
                    _part("tensor", "communication", time.tensor_parallel, "tensor"),
                ),
            )
        )
    most = max(row.measured.total for row in result.rows.values())
    return Bars(
        title="One layer, measured and predicted",
        axis=Axis(label="time of one layer", quantity=SECONDS, low=0.0, high=1.1 * most),
        bars=tuple(bars),
        caption="What is computed again, and the communication that nothing hides, are inside the "
        "measured backward pass.",
    )


def _part(key: str, label: str, value: Seconds, color: str) -> Segment:
    return Segment(key=key, label=label, value=value, color=color)


def _run_table(result: Result) -> Table:
    rounded_seconds = with_digits(SECONDS, 4)
    rows = []
    for run in result.runs:
        row = run.case.row
        name, kind = row["row_id"].split("-")[2:]
        rows.append(
            (
                f"GPT {name}, {row['n_gpus']} A100",
                "every layer" if kind == "full" else "attention core, sequence parallel",
                say("{t}", t=(run.case.time, rounded_seconds)),
                say("{t}", t=(run.time, SECONDS)),
                say("{e}", e=(run.error, SHARE)),
                Citation((SOURCE,)),
            )
        )
    return Table(
        title="Whole steps with full and with selective recomputation",
        columns=("Run", "Computed again", "Measured", "Predicted", "Off by", "Source"),
        rows=tuple(rows),
        caption="These runs are among those that the constants of the step model were fitted to.",
    )


_RECOMPUTED = {
    "none": "nothing",
    "selective": "all but attention and every second product",
    "full": "the whole layer",
}


_STYLES = {
    "eager": "eager",
    "one norm": "eager, norms in one operator",
    "compiled": "compiled",
}


def _kept_table(result: Result) -> Table:
    rows = []
    for layer, modeled in zip(OWN_LAYERS, result.kept, strict=True):
        rows.append(
            (
                f"{MODELS[layer.model].name}, {_STYLES[layer.style]}"
                + ("" if layer.fused else ", unfused attention"),
                _RECOMPUTED[layer.recompute],
                say("{b}", b=(layer.kept, BYTES)),
                say("{b}", b=(modeled, BYTES)),
                say("{e}", e=(modeled / layer.kept - 1, SHARE)),
            )
        )
    return Table(
        title="What one layer keeps, measured beside modeled",
        columns=("Layer", "Computed again", "Measured", "Modeled", "Off by"),
        rows=tuple(rows),
        caption=f"Measured by us on one H100, {OWN_DATE}, PyTorch 2.11: bytes that the allocator "
        "holds between the forward and the backward pass of one sequence, of 8,192 tokens "
        "(Llama) or 2,048 (GPT). A run file cannot say that a norm is one operator; that row is "
        "modeled as eager.",
    )
