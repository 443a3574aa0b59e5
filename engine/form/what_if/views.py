"""Views of the levers: tornado chart, table, badge, advice."""

from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, SHARE
from engine.core.views import (
    Advice,
    Axis,
    Badge,
    Bar,
    Bars,
    Cell,
    Citation,
    Receipt,
    Remedy,
    Segment,
    Table,
    Value,
)
from engine.form.memory_fit import with_fit
from engine.form.run.prediction_text import evidence_assumptions, range_note
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


def gain_error_band() -> Text:
    """Return the error of predicted gains."""
    return say(
        "On {n} pairs of published runs that differ in one setting, the ratio of their speeds was "
        "predicted within {e} in eight of ten.",
        n=(PAIRS, COUNT),
        e=(GAIN_ERROR, SHARE),
    )


def step_value(present: Presenter, job: Job) -> Value:
    """Return the current step."""
    fitted = "The cost model, whose constants are fitted to published runs."
    return present.value(
        "step_time",
        receipt=Receipt(
            assumptions=(
                fitted,
                *job.changes,
                *evidence_assumptions(job.evidence),
                gain_error_band(),
            )
        ),
        note=range_note(present, "step_time", job.evidence)
        if job.fit.runs
        else "the job does not fit: this step cannot run",
    )


def tornado(job: Job) -> Bars:
    """Return the levers as bars, largest gain first, with the model's error."""
    shown = [gain for gain in job.gains if gain.gain > 1][:_SHOWN] or list(job.gains[:1])
    nothing = "no lever applies" if job.fit.runs else "none: the job does not fit"
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


def gains_table(job: Job) -> Table:
    """Return every lever with its gain, price and evidence."""
    levers: list[tuple[Lever, tuple[Cell, Cell, Cell]]] = [
        (
            gain.lever,
            (
                say("{g}", g=(gain.gain, RATIO)),
                say("{low} to {high}", low=(gain.low, RATIO), high=(gain.high, RATIO)),
                "yes",
            ),
        )
        for gain in job.gains
    ]
    levers += [(gain.lever, ("makes it fit", "", "yes")) for gain in job.mends]
    levers += [(gain.lever, (gain.fit.verdict, "", "no")) for gain in job.unfit]
    levers += [(lever, ("does not apply", "", "")) for lever in job.idle]
    rows: list[tuple[Cell, ...]] = [
        (
            lever.label,
            _FAMILIES[lever.family][0],
            *cells,
            lever.side,
            lever.evidence or "modeled",
            Citation(lever.sources),
        )
        for lever, cells in levers
    ]
    return Table(
        title="All levers",
        columns=("Lever", "What changes", "Speed", "Range", "Fits", "Price", "Evidence", "Sources"),
        rows=tuple(rows),
        caption=gain_error_band(),
        links=tuple((f"lever:{lever.key}",) for lever, _ in levers),
    )


def first_lever_badge(job: Job) -> Badge:
    """Return the lever with the largest gain, and whether it exceeds the error."""
    if not job.fit.runs:
        return _unfit_badge(job)
    if not job.gains:
        return Badge(text="Nothing", sentence="No lever applies to this job.", color="muted")
    best, second = job.gains[0], job.gains[min(1, len(job.gains) - 1)]
    clear = best.low > second.gain
    more = (
        "ahead of everything else by more than the error of the model."
        if clear
        else "but the next ones lie within the error of the model: try them too."
    )
    badge = Badge(
        text=best.lever.label,
        sentence=say(f"{{gain}} as fast, {more}", gain=(best.gain, RATIO)),
        color="compute",
    )
    return with_fit(badge, job.fit)


def _unfit_badge(job: Job) -> Badge:
    """Return that the job does not run, and the single changes that make it fit."""
    names = ", ".join(gain.lever.label for gain in job.mends)
    way = f"One change is enough: {names}." if names else "No single change here makes it fit."
    return Badge(
        text="Does not fit",
        sentence=say(
            f"The rank that holds most needs {{need}}, and {{have}} may be filled, so there is "
            f"nothing to make faster yet. {way}",
            need=(job.fit.needed, BYTES),
            have=(job.fit.usable, BYTES),
        ),
        color="communication",
    )


def lever_advice(job: Job) -> Advice:
    """Return the three best levers that are changes of inputs."""
    usable = [gain for gain in job.gains if gain.change and gain.alike and gain.gain > 1]
    return Advice(
        title="Pull one",
        verdict=say(
            "{share} of the step waits for communication.", share=(job.exposed_share, SHARE)
        )
        if job.fit.runs
        else "The job does not fit: nothing is recommended until it does.",
        figure="step_time",
        now=job.step_time,
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
