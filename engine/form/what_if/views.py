"""What the levers show: the tornado, the table behind it, and advice."""

from engine.core.outputs import Teller
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, SHARE
from engine.core.views import (
    Advice,
    Axis,
    Badge,
    Bar,
    Bars,
    Cell,
    Cite,
    Receipt,
    Remedy,
    Segment,
    Table,
    Value,
)
from engine.form.run.prediction_text import in_range, known
from engine.form.what_if.accuracy import GAIN_ERROR, PAIRS
from engine.form.what_if.changes import Lever
from engine.form.what_if.model import Gain, Job

_FAMILIES = {
    "setting": ("setting", "compute"),
    "plan": ("plan", "communication"),
    "machine": ("machine", "memory"),
    "waiting": ("waiting", "muted"),
}
_SHOWN = 12


def band() -> Text:
    """Return how well such gains were predicted."""
    return say(
        "On {n} pairs of published runs that differ in one setting, the ratio of their speeds was "
        "predicted within {e} in eight of ten.",
        n=(PAIRS, COUNT),
        e=(GAIN_ERROR, SHARE),
    )


def step_value(tell: Teller, found: Job) -> Value:
    """Return the step as it is."""
    fitted = "The cost model, whose constants are fitted to published runs."
    return tell.value(
        "step_time",
        receipt=Receipt(assumptions=(fitted, *found.changes, *known(found.evidence), band())),
        note=in_range(tell, "step_time", found.evidence)
        if found.fits
        else "the job does not fit: this step cannot run",
    )


def tornado(found: Job) -> Bars:
    """Return the levers as bars, the largest gain first, with the model's error."""
    shown = [gain for gain in found.gains if gain.gain > 1][:_SHOWN] or list(found.gains[:1])
    nothing = "no lever applies" if found.fits else "none: the job does not fit"
    return Bars(
        title="What each lever gives",
        axis=Axis(
            label="faster by",
            quantity=SHARE,
            low=0.0,
            high=max(0.1, 1.05 * max((gain.high - 1 for gain in shown), default=0.0)),
        ),
        bars=tuple(_bar(gain) for gain in shown) or (_no_bar(nothing),),
        caption="One lever at a time. The color says what changes; where it is only waiting, the "
        "gain is a bound. The thin line spans the error of such predictions.",
    )


def _bar(gain: Gain) -> Bar:
    label, color = _FAMILIES[gain.lever.family]
    return Bar(
        key=gain.lever.key,
        label=gain.lever.label,
        segments=(
            Segment(key=gain.lever.key, label=label, value=max(0.0, gain.gain - 1), color=color),
        ),
        links=(f"lever:{gain.lever.key}",),
        low=max(0.0, gain.low - 1),
        high=max(0.0, gain.high - 1),
    )


def _no_bar(words: str) -> Bar:
    nothing = Segment(key="none", label="nothing", value=0.0, color="muted")
    return Bar(key="none", label=words, segments=(nothing,))


def table(found: Job) -> Table:
    """Return every lever with its gain, its price and the evidence."""
    told: list[tuple[Lever, tuple[Cell, Cell, Cell]]] = [
        (
            gain.lever,
            (
                say("{g}", g=(gain.gain, RATIO)),
                say("{low} to {high}", low=(gain.low, RATIO), high=(gain.high, RATIO)),
                "yes",
            ),
        )
        for gain in found.gains
    ]
    told += [(gain.lever, ("makes it fit", "", "yes")) for gain in found.mends]
    told += [(gain.lever, ("does not fit", "", "no")) for gain in found.unfit]
    told += [(lever, ("does not apply", "", "")) for lever in found.idle]
    rows: list[tuple[Cell, ...]] = [
        (
            lever.label,
            _FAMILIES[lever.family][0],
            *cells,
            lever.side,
            lever.evidence or "modeled",
            Cite(lever.sources),
        )
        for lever, cells in told
    ]
    return Table(
        title="All levers",
        columns=("Lever", "What changes", "Speed", "Range", "Fits", "Price", "Evidence", "Sources"),
        rows=tuple(rows),
        caption=band(),
        links=tuple((f"lever:{lever.key}",) for lever, _ in told),
    )


def first(found: Job) -> Badge:
    """Return the lever that comes first, and whether it stands out of the error."""
    if not found.fits:
        return _unfit(found)
    if not found.gains:
        return Badge(text="Nothing", sentence="No lever applies to this job.", color="muted")
    best, second = found.gains[0], found.gains[min(1, len(found.gains) - 1)]
    clear = best.low > second.gain
    more = (
        "ahead of everything else by more than the error of the model."
        if clear
        else "but the next ones lie within the error of the model: try them too."
    )
    return Badge(
        text=best.lever.label,
        sentence=say(f"{{gain}} as fast, {more}", gain=(best.gain, RATIO)),
        color="compute",
    )


def _unfit(found: Job) -> Badge:
    """Return that the job does not run, and which single changes would make it fit."""
    names = ", ".join(gain.lever.label for gain in found.mends)
    way = f"One change is enough: {names}." if names else "No single change here makes it fit."
    return Badge(
        text="Does not fit",
        sentence=say(
            f"The fullest GPU needs {{need}}, and {{have}} may be filled, so there is nothing to "
            f"make faster yet. {way}",
            need=(found.held, BYTES),
            have=(found.usable, BYTES),
        ),
        color="communication",
    )


def advice(found: Job) -> Advice:
    """Return the three best levers that a change of inputs pulls, to apply and to undo."""
    usable = [gain for gain in found.gains if gain.change and gain.alike and gain.gain > 1]
    return Advice(
        title="Pull one",
        verdict=say(
            "{share} of the step waits for communication.", share=(found.exposed_share, SHARE)
        )
        if found.fits
        else "The job does not fit: nothing is recommended until it does.",
        figure="step_time",
        now=found.step_time,
        quantity=SECONDS,
        remedies=tuple(
            Remedy(
                key=gain.lever.key,
                label=gain.lever.label,
                change=gain.change,
                after=gain.step,
                side_effect=gain.lever.side,
            )
            for gain in usable[:3]
        ),
    )
