"""Wire types: the bytes of a step by class of tensor, halved only where a tick stands."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.calculators.whole_runs.wire_types import charts
from engine.calculators.whole_runs.wire_types.inputs import PRESETS as PRESETS
from engine.calculators.whole_runs.wire_types.inputs import TICKS
from engine.calculators.whole_runs.wire_types.inputs import Inputs as Inputs
from engine.core.outputs import Teller, Told, Views
from engine.core.text import Text
from engine.core.units import Bytes, Seconds, Share
from engine.form.adjusted_inputs import told
from engine.form.run.prediction_text import ranged
from engine.form.short_job import job_told
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.what_if import run_fits, step_of
from engine.simulate.step.wire_classes import Gain, WireClass, most_gained, wire_classes

TITLE = "Which bytes are ticked?"
QUESTION = "Which bytes of my step become fewer in FP8, and what is that worth?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The classes of the job's tensors, what the ticks save, and what FP8 products save."""

    changes: tuple[Text, ...]
    evidence: Evidence
    classes: tuple[WireClass, ...]
    gain: Gain
    fits: bool
    sent: Annotated[
        Bytes,
        Told(
            "Sent by a GPU in a step",
            note="by a middle stage, without a tick",
            color="communication",
            assumes=("Rings throughout; embedding and output layer are left out.",),
            sources=("rajbhandari2020", "korthikanti2022"),
        ),
    ]
    left: Annotated[
        Bytes,
        Told(
            "With your ticks",
            color="communication",
            assumes=("One byte for each ticked number; scales are left out.",),
            sources=("micikevicius2022",),
        ),
    ]
    saved: Annotated[
        Share,
        Told(
            "Bytes saved",
            color="communication",
            assumes=("One byte for each ticked number; scales are left out.",),
            sources=("micikevicius2022",),
        ),
    ]
    step: Annotated[
        Seconds,
        Told("Step", note="in {precision}, nothing ticked"),
    ]
    gained: Annotated[
        Share,
        Told(
            "Fewer bytes are worth at most",
            note="of the step",
            color="communication",
            assumes=(
                "Only time that the step waits for can be saved, and only the share of an axis's "
                "bytes that is saved.",
            ),
            sources=("micikevicius2022",),
        ),
    ]
    products: Annotated[
        Share,
        Told(
            "FP8 products are worth",
            note="of a step in bf16, by faster products alone",
            color="compute",
            assumes=("Linear layers alone; rates measured per GPU.",),
            sources=("micikevicius2022",),
        ),
    ]
    precision: str


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    run, changes = job_told(inputs)
    ticked = frozenset(name for name in TICKS if getattr(inputs, name))
    classes = wire_classes(run, ticked)
    gain = most_gained(run, classes)
    sent, left = sum(one.sent for one in classes), sum(one.left for one in classes)
    coarse, fine = (
        step_of(replace(run, training=replace(run.training, precision=precision))).total
        for precision in ("bf16", "fp8")
    )
    return Result(
        evidence=evidence(run),
        changes=changes,
        classes=classes,
        gain=gain,
        fits=run_fits(run),
        sent=sent,
        left=left,
        saved=1 - left / sent if sent else 0.0,
        step=gain.step.total,
        gained=gain.gain / gain.step.total,
        products=1 - fine / coarse,
        precision=inputs.precision,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    return {
        **tell.values("saved"),
        "verdict": told(
            charts.verdict(tell, result.fits, result.saved, result.gained), result.changes
        ),
        "classes": partial(charts.bars, result.classes),
        **tell.values("sent", "left"),
        "step": ranged(
            tell,
            "step",
            result.evidence,
            note=f"in {inputs.precision}, nothing ticked",
            assumes=("As the planner times it.",),
        ),
        **tell.values("gained", "products"),
        "ledger": partial(charts.ledger, tell, result.classes),
        "axes": partial(charts.axes, tell, result.gain),
        "ports": partial(charts.ports, tell, result.sent, result.left),
    }
