"""The verdict on a printed MFU, the peaks beside the one it implies, and published ones checked."""

from collections.abc import Mapping

from engine.calculators.one_gpu.mfu_check.inputs import Inputs, Result
from engine.catalog.reported_mfu import PRINTED
from engine.core.outputs import Teller
from engine.core.text import Text
from engine.core.units import FLOP_RATE, SHARE, TOKEN_RATE
from engine.core.views import Badge, Bar, Bars, Cite, Rule, Segment, Table
from engine.formulas.token_operations import COUNTINGS
from engine.simulate.memory.peak_check import ALIKE, Explanation

# As far from every known way, a printed MFU has another cause.
_FAR = 0.1
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


def verdict(tell: Teller, inputs: Inputs, result: Result) -> Badge:
    """Return which peak the printed MFU was made with, if one explains it."""
    if result.hfu > 1:
        return Badge(
            text="Above the peak",
            sentence=tell.say(
                "{hfu} of the peak is impossible: check the speed, the model and the GPU."
            ),
            color="bad",
        )
    if not inputs.printed:
        return Badge(
            text="Computed",
            sentence=tell.say("{mfu} of {peak_rate}; type the MFU of your log to compare."),
        )
    return _explained(tell, result, result.found[0])


def _explained(tell: Teller, result: Result, best: Explanation) -> Badge:
    numbers = {
        "o": (abs(best.off), SHARE),
        "g": (best.gives, SHARE),
        "p": (best.peak.rate, FLOP_RATE),
    }
    if abs(best.off) > _FAR:
        return Badge(
            text="Unexplained",
            sentence=tell.say(
                "No known peak and no usual count gives {printed}; the nearest gives {g}.",
                **numbers,
            ),
            color="bad",
        )
    close = "gives {g}" if abs(best.off) <= ALIKE else "gives {g}, {o} off"
    counted = COUNTINGS[best.counting].partition(":")[0]
    if best.peak is result.candidates[0]:
        return Badge(
            text="Right peak",
            sentence=tell.say(f"The dense peak, with {counted} per token, {close}.", **numbers),
            color="compute",
        )
    return Badge(
        text=_BLAMED[best.peak.key],
        sentence=tell.say(
            f"{best.peak.name}: {{p}}, with {counted} per token, {close}. "
            f"{_WHY[best.peak.key]} Of the dense peak it is {{mfu}}.",
            **numbers,
        ),
        color="bad",
    )


def peak_bars(tell: Teller, inputs: Inputs, result: Result) -> Bars:
    """Return the peaks that code divides by, and a line at the one that the printed MFU implies."""
    most = max(result.implied, *(peak.rate for peak in result.candidates))
    return Bars(
        title="Peaks that logs divide by",
        axis=tell.axis("peak_rate", "operations per second", low=0.0, high=1.04 * most),
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
            Rule(key="implied", label=tell.say("implied: {implied}"), axis="x", at=result.implied),
        )
        if inputs.printed
        else (),
        caption="The line is the peak that your log must have divided by, if it counts as chosen.",
    )


def _segment(key: str, value: float, color: str) -> Segment:
    return Segment(key=key, label="rate", value=value, color=color)


def ways(tell: Teller, inputs: Inputs, result: Result) -> Table:
    """Return the ways of counting and dividing that come nearest to the printed MFU."""
    return Table(
        title="What gives the MFU that your log prints",
        columns=("Divided by", "Operations per token", "It gives", "Off by"),
        rows=tuple(_way(tell, one) for one in result.found[:5]),
        caption="The nearest five of all peaks and counts, nearest first."
        if inputs.printed
        else "Without a printed MFU: the ways that give the same as your choice.",
    )


def _way(tell: Teller, one: Explanation) -> tuple[Text, ...]:
    return (
        one.peak.name,
        COUNTINGS[one.counting].partition(":")[0],
        tell.say("{g}", g=(one.gives, SHARE)),
        tell.say("{o}", o=(one.off, SHARE)),
    )


def published(tell: Teller, result: Result) -> Table:
    """Return published MFUs beside what the peak and the count nearest to them give."""
    rows = tuple(
        (
            line.name,
            tell.say("{r}", r=(line.rate, TOKEN_RATE)),
            tell.say("{m}", m=(line.mfu, SHARE)),
            tell.say("{g}", g=(best.gives, SHARE)),
            COUNTINGS[best.counting].partition(":")[0],
            best.peak.name,
            Cite((line.source,)),
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
