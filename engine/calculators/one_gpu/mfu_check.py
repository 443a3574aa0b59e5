"""Is my MFU right? From tokens per second to MFU and HFU, and which peak a log divided by."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, cast

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.flop_conventions import CONVENTIONS, Counting
from engine.catalog.models import MODELS
from engine.catalog.recent_models import EVERY_MODEL
from engine.catalog.reported_mfu import PRINTED
from engine.core.inputs import PERCENT, Choice, Number
from engine.core.lazy import Lazy
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import Text
from engine.core.units import FLOP_RATE, SHARE, TOKEN_RATE, FlopRate, Operations, Share
from engine.core.views import Badge, Bar, Bars, Citation, Rule, Segment, Table
from engine.form.conventions import COUNTINGS
from engine.form.job_inputs import PER_SECOND
from engine.formulas.token_operations import (
    HFU,
    IMPLIED_PEAK,
    MFU,
    implied_peak,
    token_operations,
    utilization,
)
from engine.run.parallelism import Recompute
from engine.simulate.layer.token_cost import repeated_operations
from engine.simulate.memory.peak_check import (
    TOLERANCE,
    Explanation,
    PeakFigure,
    candidate_peaks,
    explanations,
)

RECOMPUTE: Mapping[str, str] = {
    "none": "nothing",
    "selective": "the attention scores",
    "full": "every layer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    gpu: Annotated[
        str, Choice(label="GPU", options={key: gpu.name for key, gpu in ACCELERATORS.items()})
    ] = "H100-SXM"
    rate: Annotated[
        float,
        Number(label="Speed per GPU", unit=PER_SECOND, low=0.1, high=1e7, scale="log", symbol="r"),
    ] = 9600.0
    model: Annotated[
        str,
        Choice(
            label="Model",
            cites=False,
            options={key: model.name for key, model in EVERY_MODEL.items()},
        ),
    ] = "llama-2-7b"
    sequence_length: Annotated[
        int,
        Number(label="Sequence length", low=8, high=1 << 20, scale="log2", whole=True, symbol="s"),
    ] = 4096
    printed: Annotated[
        float,
        Number(
            label="MFU that your log prints",
            unit=PERCENT,
            low=0.0,
            high=3.0,
            step=0.001,
            symbol="u",
            help="0 if it prints none. Some logs print more than 100 %, which is always wrong.",
        ),
    ] = 0.243
    precision: Annotated[
        str,
        Choice(
            label="Matrix products in",
            options={"bf16": "16 bits", "fp8": "fp8"},
            help="A GPU without fp8 is measured against its 16-bit peak.",
        ),
    ] = "bf16"
    recompute: Annotated[str, Choice(label="Recompute", options=RECOMPUTE)] = "none"
    counting: Annotated[str, Choice(label="Operations counted", options=COUNTINGS)] = "palm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Both utilizations, and the explanations of the printed MFU (empty if none is given).

    `nearest` is what best explains each of those that were published.
    """

    mfu: Annotated[
        Share,
        Output(
            "MFU",
            "u",
            note="of {peak_rate}",
            color="compute",
            assumes=("The peak is dense, of the data type of the matrix products.",),
        ),
    ]
    hfu: Annotated[
        Share,
        Output(
            "HFU",
            "U",
            note="with what is computed twice",
            assumes=("Full recomputation repeats all of a layer's forward pass.",),
        ),
    ]
    achieved: Annotated[
        FlopRate,
        Output("Useful operations", assumes=("Operations per token times tokens per second.",)),
    ]
    implied: Annotated[
        FlopRate,
        Output(
            "Your log divides by",
            "I",
            color="memory",
            assumes=("Operations are counted as you chose; the log may count them otherwise.",),
        ),
    ]
    operations: Annotated[
        Operations,
        Output("Operations per token", "C", assumes=("Counted as chosen, nothing repeated.",)),
    ]
    again: Annotated[Operations, Output(symbol="c", of="recompute")]
    peak_rate: Annotated[
        FlopRate,
        Output(
            "Peak",
            "F",
            basis="datasheet",
            assumes=(
                "Dense: makers print twice as much for 2:4 sparsity, which training does not use.",
            ),
        ),
    ]
    peak: PeakFigure
    candidates: tuple[PeakFigure, ...]
    explanations: tuple[Explanation, ...]
    nearest: Lazy[tuple[Explanation, ...]]


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    model, counting = EVERY_MODEL[inputs.model], cast(Counting, inputs.counting)
    operations = token_operations(model, inputs.sequence_length, counting)
    recompute = cast(Recompute, inputs.recompute)
    again = repeated_operations(model, inputs.sequence_length, counting, recompute)
    candidates = candidate_peaks(ACCELERATORS[inputs.gpu], inputs.precision)
    peak = candidates[0]
    mfu = utilization(operations, inputs.rate, peak.rate)
    printed = inputs.printed or mfu
    return Result(
        mfu=mfu,
        hfu=utilization(operations + again, inputs.rate, peak.rate),
        achieved=operations * inputs.rate,
        implied=implied_peak(operations, inputs.rate, printed),
        operations=operations,
        again=again,
        peak_rate=peak.rate,
        peak=peak,
        candidates=candidates,
        explanations=explanations(model, inputs.sequence_length, inputs.rate, printed, candidates),
        nearest=Lazy(_nearest_explanations),
    )


@cache
def _nearest_explanations() -> tuple[Explanation, ...]:
    return tuple(
        explanations(
            MODELS[line.model],
            line.sequence_length,
            line.rate,
            line.mfu,
            candidate_peaks(ACCELERATORS[line.gpu], line.precision),
        )[0]
        for line in PRINTED
    )


# As far from every known way, a printed MFU has another cause.
_TOLERANCE = 0.1
_BLAMED: Mapping[str, str] = {
    "sparse": "Peak with sparsity",
    "half": "TF32 peak",
    "other": "Another GPU's peak",
}
_WHY: Mapping[str, str] = {
    "sparse": "Training multiplies dense matrices, so no run can come near that figure.",
    "half": "The matrix products run in 16 bits, twice as fast.",
    "other": "Look for a peak that is written into the code.",
}


def verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    """Return the badge on the peak and operation count that explain the printed MFU."""
    if result.hfu > 1:
        return Badge(
            text="Above the peak",
            sentence=present.say(
                "{hfu} of the peak is impossible: check the speed, the model and the GPU."
            ),
            color="bad",
        )
    if not inputs.printed:
        return Badge(
            text="Computed",
            sentence=present.say("{mfu} of {peak_rate}; type the MFU of your log to compare."),
        )
    return _explanation_badge(present, result, result.explanations[0])


def _explanation_badge(present: Presenter, result: Result, best: Explanation) -> Badge:
    numbers = {
        "o": (abs(best.off), SHARE),
        "g": (best.mfu, SHARE),
        "p": (best.peak.rate, FLOP_RATE),
    }
    if abs(best.off) > _TOLERANCE:
        return Badge(
            text="Unexplained",
            sentence=present.say(
                "No known peak and no usual count gives {printed}; the nearest gives {g}.",
                **numbers,
            ),
            color="bad",
        )
    close = "gives {g}" if abs(best.off) <= TOLERANCE else "gives {g}, {o} off"
    counted = CONVENTIONS[best.counting].name.partition(":")[0]
    if best.peak is result.candidates[0]:
        return Badge(
            text="Right peak",
            sentence=present.say(f"The dense peak, with {counted} per token, {close}.", **numbers),
            color="compute",
        )
    return Badge(
        text=_BLAMED[best.peak.key],
        sentence=present.say(
            f"{best.peak.name}: {{p}}, with {counted} per token, {close}. "
            f"{_WHY[best.peak.key]} Of the dense peak it is {{mfu}}.",
            **numbers,
        ),
        color="bad",
    )


def peak_bars(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    """Return the bars of peak rates in use, with a line at the peak implied by the printed MFU."""
    most = max(result.implied, *(peak.rate for peak in result.candidates))
    return Bars(
        title="Peaks that logs divide by",
        axis=present.axis("peak_rate", "operations per second", low=0.0, high=1.04 * most),
        bars=(
            Bar(
                key="achieved",
                label="what this run achieves",
                segments=(_segment("achieved", result.achieved, "compute"),),
            ),
            *(
                Bar(
                    key=f"{at}",
                    label=peak.name.partition(" (")[0] + (", right" if at == 0 else ""),
                    segments=(_segment(peak.key, peak.rate, "muted" if at else "ink"),),
                )
                for at, peak in enumerate(result.candidates)
            ),
        ),
        rules=(
            Rule(
                key="implied", label=present.say("implied: {implied}"), axis="x", at=result.implied
            ),
        )
        if inputs.printed
        else (),
        caption="The line is the peak that your log must have divided by, if it counts as chosen.",
    )


def _segment(key: str, value: float, color: str) -> Segment:
    return Segment(key=key, label="rate", value=value, color=color)


def explanation_table(present: Presenter, inputs: Inputs, result: Result) -> Table:
    """Return the table of counts and peaks whose MFU is nearest to the printed one."""
    return Table(
        title="What gives the MFU that your log prints",
        columns=("Divided by", "Operations per token", "It gives", "Off by"),
        rows=tuple(
            _explanation_row(present, explanation) for explanation in result.explanations[:5]
        ),
        caption="The nearest five of all peaks and counts, nearest first."
        if inputs.printed
        else "Without a printed MFU: the ways that give the same as your choice.",
    )


def _explanation_row(present: Presenter, explanation: Explanation) -> tuple[Text, ...]:
    return (
        explanation.peak.name,
        CONVENTIONS[explanation.counting].name.partition(":")[0],
        present.say("{g}", g=(explanation.mfu, SHARE)),
        present.say("{o}", o=(explanation.off, SHARE)),
    )


def published_table(present: Presenter, result: Result) -> Table:
    """Return the table of published MFUs beside the nearest recomputed values."""
    rows = tuple(
        (
            line.name,
            present.say("{r}", r=(line.rate, TOKEN_RATE)),
            present.say("{m}", m=(line.mfu, SHARE)),
            present.say("{g}", g=(best.mfu, SHARE)),
            CONVENTIONS[best.counting].name.partition(":")[0],
            best.peak.name,
            Citation((line.source,)),
        )
        for line, best in zip(PRINTED, result.nearest(), strict=True)
    )
    return Table(
        title="Published MFUs, recomputed",
        columns=("Run", "Per GPU", "Printed", "Recomputed", "Counted", "Divided by", "Source"),
        rows=rows,
        caption="All five divide by a dense peak, and they do not count the same operations. The "
        "405B runs used H100 of lower power, whose peak is below that of the datasheet.",
    )


TITLE = "Is my MFU right?"
QUESTION = "What MFU do your tokens per second amount to, and which peak did your log divide by?"
HEADLINE = "mfu"
EQUATIONS = (MFU, HFU, IMPLIED_PEAK)
PRESETS = {
    "torchtitan: Llama 3.1 8B on A100, 56.8 %": {
        "gpu": "A100-SXM-80GB",
        "model": "llama-3-8b",
        "sequence_length": 8192,
        "rate": 2904.0,
        "printed": 0.568,
        "recompute": "selective",
    },
    "torchtitan: 405B in fp8, 23.5 %": {
        "model": "llama-3-405b",
        "sequence_length": 8192,
        "rate": 177.0,
        "printed": 0.2346,
        "precision": "fp8",
        "recompute": "full",
    },
    "An H100 measured with an A100's peak": {"rate": 9600.0, "printed": 1.443},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **present.values("mfu", "hfu"),
        "verdict": verdict(present, inputs, result),
        "peak_rate": present.value("peak_rate", note=result.peak.name),
        **present.values("achieved", "operations"),
        "implied": present.value(
            "implied",
            symbols={"q": "printed" if inputs.printed else "mfu"},
            note="" if inputs.printed else "type the MFU that it prints",
        ),
        "peaks": partial(peak_bars, present, inputs, result),
        "ways": partial(explanation_table, present, inputs, result),
        "formula": present.formula("With your numbers", MFU, u="mfu"),
        "published": partial(published_table, present, result),
    }
