"""The numbers of the schedule lab, each with its receipt."""

from engine.calculators.splitting_the_model.schedule_lab.result import Result
from engine.core.outputs import Presenter
from engine.core.text import Text, say
from engine.core.units import SECONDS
from engine.core.views import Formula, Value
from engine.form.missing_range import NO_RANGE
from engine.formulas import pipeline, pipeline_idle
from engine.simulate.pipeline.schedule_idle import IDLE

EQUATIONS = (
    pipeline.BUBBLE_CONVERSION,
    pipeline_idle.ONE_F_ONE_B_IDLE,
    pipeline_idle.ZB_H1_IDLE,
    pipeline_idle.ZB_H2_IDLE,
    pipeline_idle.DUALPIPE_IDLE,
    pipeline_idle.DUALPIPE_V_IDLE,
)
_PLAYED = "Counted in the step that the timeline shows, from its first to its last micro-batch."


def formula(present: Presenter, result: Result) -> Formula:
    """Return the published closed form with the input values, or the conversion of shares."""
    title = "The closed form, where one is published"
    if result.closed is None or result.few:
        return present.formula(title, pipeline.BUBBLE_CONVERSION)
    return present.formula(title, IDLE[result.own.name], Ti=(result.closed, SECONDS))


def values(present: Presenter, result: Result) -> dict[str, Value]:
    """Return the numbers in the order of the page."""
    reason = result.own.setting.reason
    counted: tuple[Text, ...] = (_PLAYED,)
    if reason:
        counted += (f"Played with other numbers than set: {reason}.",)
    length = "from the first pass to the last"
    if not result.case.synchronized:
        length = "of the stage that takes longest"
    return {
        "bubble_share": present.value(
            "bubble_share", equation=pipeline.BUBBLE_CONVERSION, assumes=counted
        ),
        "bubble_over_ideal": present.value("bubble_over_ideal", assumes=counted),
        "idle": _idle(present, result, counted),
        "step": present.value("step", assumes=(*counted, NO_RANGE), note=length),
        "peak": present.value("peak", assumes=counted),
        **present.values("activations", "copies", "weights"),
        "messages": present.value("messages", assumes=counted),
        "message_bytes": present.value("message_bytes", assumes=counted),
    }


def _idle(present: Presenter, result: Result, counted: tuple[Text, ...]) -> Value:
    """Return the idle time, with its closed form if both agree."""
    closed, assumes = result.closed, (*counted, "The mean over the stages.")
    if closed is None:
        return present.value("idle", note="no closed form is published", assumes=assumes)
    if abs(closed - result.idle) <= 1e-9 * result.step:
        return present.value(
            "idle",
            equation=None if result.few else IDLE[result.own.name],
            note="the closed form gives the same",
            assumes=assumes,
        )
    holds = (
        "The closed form holds for stages alike, free messages, enough micro-batches and "
        "the times that its source assumes."
    )
    note = say("the closed form would say {t}", t=(closed, SECONDS))
    return present.value("idle", note=note, assumes=(*assumes, holds))
