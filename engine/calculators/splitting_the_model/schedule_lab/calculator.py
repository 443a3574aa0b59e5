"""Schedule lab: the bubble of a pipeline schedule, and the cost of removing it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from engine.calculators.splitting_the_model.schedule_lab import charts, export
from engine.calculators.splitting_the_model.schedule_lab.charts import timeline
from engine.calculators.splitting_the_model.schedule_lab.result import (
    Change,
    Result,
    candidate_changes,
)
from engine.calculators.splitting_the_model.schedule_lab.result import Inputs as Inputs
from engine.calculators.splitting_the_model.schedule_lab.result import search as search
from engine.calculators.splitting_the_model.schedule_lab.result import solve as solve
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, MILLI, SECONDS, SHARE
from engine.core.views import Advice, Badge, Challenge, Condition, Formula, Remedy, Table, Value
from engine.form.missing_range import NO_RANGE
from engine.form.plural import pluralize
from engine.formulas import pipeline, pipeline_idle
from engine.simulate.pipeline.schedule_bench import ScheduleCase, ScheduleResult
from engine.simulate.pipeline.schedule_idle import IDLE

TITLE = "Schedule lab"
QUESTION = "Where is a pipeline idle, and what does it cost to fill the gap?"
HEADLINE = "step"
PRESETS_CITE = False
PRESETS = {
    "DualPipe's own table: 8 stages": {
        "schedule": "dualpipe",
        "pipeline_parallel": 8,
        "num_microbatches": 20,
    },
    "Zero bubble: ZB-H2": {"schedule": "zb_h2", "pipeline_parallel": 4, "num_microbatches": 12},
    "Interleaved, 8 stages of 4 chunks": {
        "schedule": "interleaved",
        "pipeline_parallel": 8,
        "num_microbatches": 32,
        "num_chunks": 4,
    },
    "One slow stage": {"num_microbatches": 16, "slow_stage": 2, "slowness": 0.5},
    "Light ends: 126 layers in 128 pieces": {
        "schedule": "interleaved",
        "pipeline_parallel": 16,
        "num_microbatches": 16,
        "num_chunks": 8,
        "num_layers": 126,
        "output": 0.7,
    },
    "Slow wires": {"num_microbatches": 16, "message": 1 * MILLI},
    "32 stages, 256 micro-batches": {"pipeline_parallel": 32, "num_microbatches": 256},
}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views of the lab, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS[:1])
    return {
        "timeline": partial(timeline, result),
        "regime": partial(regime, result),
        **values(present, result),
        "staircase": charts.staircase(result),
        "formula": formula(present, result),
        "pieces": pieces(result),
        "comparison": comparison(result),
        "pareto": charts.pareto(result),
        "over_microbatches": partial(charts.bubble_curve, result),
        "advice": partial(advice, result),
        "pytorch": partial(export.pytorch, result),
        "megatron": partial(export.megatron, result),
        "challenge": challenge(result),
    }


# The numbers of the schedule lab, each with its receipt.

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
    return present.formula(title, IDLE[result.chosen.name], Ti=(result.closed, SECONDS))


def values(present: Presenter, result: Result) -> dict[str, Value]:
    """Return the numbers in the order of the page."""
    reason = result.chosen.setting.reason
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
            equation=None if result.few else IDLE[result.chosen.name],
            note="the closed form gives the same",
            assumes=assumes,
        )
    holds = (
        "The closed form holds for stages alike, free messages, enough micro-batches and "
        "the times that its source assumes."
    )
    note = say("the closed form would say {t}", t=(closed, SECONDS))
    return present.value("idle", note=note, assumes=(*assumes, holds))


# All schedules side by side, computed.

_COLUMNS = (
    "Schedule",
    "Step",
    "Bubble, of the step",
    "Over ideal",
    "Held at most",
    "Activations",
    "Weights",
    "Messages",
)


def comparison(result: Result) -> Table:
    """Return a row for every schedule, with the reason if it cannot run."""
    schedules, chosen = result.others, result.chosen
    return Table(
        title="All schedules with these numbers",
        columns=_COLUMNS,
        rows=tuple(
            _row(result.titles[name], schedule, chosen) for name, schedule in schedules.items()
        ),
        caption="All run the same micro-batches with the same times: their steps can be compared."
        + (
            " Long runs of the others are drawn out from two shorter ones."
            if any(
                isinstance(schedule, ScheduleResult) and schedule.extrapolated
                for schedule in schedules.values()
            )
            else ""
        ),
    )


_ENDS = {
    (True, True): "embedding, output layer",
    (True, False): "embedding",
    (False, True): "output layer",
    (False, False): "",
}


def pieces(result: Result) -> Table:
    """Return layers and times of every stage; empty if all stages are alike."""
    if not result.cut:
        return Table(title="", columns=(), rows=())
    case, stages = result.case, result.run.program.places
    busy, last = case.forward / result.run.program.num_parts, len(result.cut) - 1
    return Table(
        title="The stages as they are cut",
        columns=("Stage", "Layers", "Besides", "Forward, a micro-batch", "Busy in a step"),
        rows=tuple(
            (
                f"{rank}",
                ", ".join(str(result.cut[stage]) for stage in rank_stages),
                _ENDS[0 in rank_stages, last in rank_stages],
                say("{t}", t=(busy * sum(result.shares[stage] for stage in rank_stages), SECONDS)),
                say("{t}", t=(result.run.busy[rank], SECONDS)),
            )
            for rank, rank_stages in enumerate(stages)
        ),
        caption="A stage of several chunks names the layers of each. Idle time comes on top.",
    )


def _row(title: str, schedule: ScheduleResult | str, chosen: ScheduleResult) -> tuple[Text, ...]:
    if isinstance(schedule, str):
        return (title, schedule, *("–",) * (len(_COLUMNS) - 2))
    return (
        f"{title} (shown)" if schedule.name == chosen.name else title,
        say("{t}", t=(schedule.step, SECONDS)),
        say("{q}", q=(schedule.idle_share, SHARE)),
        say("{o}", o=(schedule.idle_over_compute, SHARE)),
        say("{a}", a=(schedule.peak, COUNT)),
        say("{b}", b=(schedule.activations, BYTES)),
        say("{b}", b=(schedule.weights, BYTES)),
        say("{n}", n=(schedule.messages, COUNT)),
    )


# Causes of idle stages, gains of each remedy, and the challenge.

_SCHEDULES = ("interleaved", "zb_h1", "zb_v", "dualpipe_v")
# What could be at fault: the change that takes it away, its name, and the step without it.
_CAUSES = (
    ("balance", "Straggler", "with stages alike"),
    ("alike", "Uneven stages", "with stages that take equally long"),
    ("messages", "Messages", "with free messages"),
    ("free", "Common pause", "without the common pause"),
)


def regime(result: Result) -> Badge:
    """Return the cause of idle stages: slow stage, messages, a common pause, or fill and drain."""
    badge, chosen = _regime(result), result.chosen
    setting = chosen.setting
    if not setting.reason:
        return badge
    batches = pluralize(setting.num_microbatches, "micro-batch")
    words = f"Played with {{p}} stages and {{m}} {batches}: "
    words += f"{chosen.title} {setting.reason}." if setting.refused else f"{setting.reason}."
    return replace(
        badge,
        sentence=say(
            words,
            p=(setting.pipeline_parallel, COUNT),
            m=(setting.num_microbatches, COUNT),
        ),
    )


def _regime(result: Result) -> Badge:
    chosen = result.chosen
    if chosen.idle_share < 0.01:
        return Badge(text="Compute", sentence="The stages hardly ever wait.", color="compute")
    for key, name, without in _CAUSES:
        after = result.changed[key]() if key in result.changed else None
        if after is not None and after.idle_share < chosen.idle_share / 2:
            return Badge(
                text=name,
                sentence=say(
                    f"{{q}} of the step is idle; {without} it would be {{r}}.",
                    q=(chosen.idle_share, SHARE),
                    r=(after.idle_share, SHARE),
                ),
                color="communication" if name == "Messages" else "ink",
            )
    batches = pluralize(chosen.setting.num_microbatches, "micro-batch")
    words = f"{{q}} of the step is idle: {{p}} stages fill and drain for only {{m}} {batches}."
    if chosen.name == "naive":
        words = "{q} of the step is idle: only one of {p} stages works at a time."
    return Badge(
        text="Fill and drain",
        sentence=say(
            words,
            q=(chosen.idle_share, SHARE),
            p=(chosen.setting.pipeline_parallel, COUNT),
            m=(chosen.setting.num_microbatches, COUNT),
        ),
    )


def advice(result: Result) -> Advice:
    """Return every remedy within range, with its remaining bubble.

    Of the schedules with the reader's numbers those drawn out from shorter runs are left out, for
    what a remedy promises is exact.
    """
    chosen, changes = result.chosen, candidate_changes(result.case)
    remedies = [
        *_of_schedules(chosen, result.others),
        *(
            _remedy(chosen, after, key, label, changes[key], side)
            for key, (label, side) in _candidates(result.case).items()
            if key in changes and (after := result.changed[key]()) is not None
        ),
    ]
    useful = [remedy for remedy in remedies if remedy.after < chosen.idle_share * 0.9995 - 1e-9]
    useful.sort(key=lambda remedy: remedy.after)
    return Advice(
        title="What would help",
        verdict="Each line gives the bubble after one change."
        if useful
        else "No change that was played leaves a smaller bubble.",
        figure="bubble, share of the step",
        now=chosen.idle_share,
        quantity=SHARE,
        remedies=tuple(useful[:6]),
    )


def _of_schedules(
    chosen: ScheduleResult, others: Mapping[str, ScheduleResult | str]
) -> list[Remedy]:
    return [
        _remedy(chosen, schedule, name, schedule.title, {"schedule": name}, "")
        for name in _SCHEDULES
        if isinstance(schedule := others.get(name), ScheduleResult)
        and not schedule.extrapolated
        and schedule is not chosen
    ]


def _remedy(
    chosen: ScheduleResult, after: ScheduleResult, key: str, label: Text, change: Change, side: Text
) -> Remedy:
    return Remedy(
        key=key,
        label=label,
        change=change,
        after=after.idle_share,
        side_effect=side or _memory(chosen, after),
    )


def _memory(chosen: ScheduleResult, after: ScheduleResult) -> Text:
    if after.peak == chosen.peak:
        batches = pluralize(after.peak, "micro-batch")
        return say(f"holds {{a}} {batches}, as now", a=(after.peak, COUNT))
    return say(
        f"holds {{a}} {pluralize(after.peak, 'micro-batch')} instead of {{b}}",
        a=(after.peak, COUNT),
        b=(chosen.peak, COUNT),
    )


def _candidates(case: ScheduleCase) -> dict[str, tuple[Text, Text]]:
    """Return label and side effect of each change; an empty side effect means memory."""
    return {
        "more": (
            say("{m} micro-batches", m=(2 * case.num_microbatches, COUNT)),
            "doubles the global batch, or halves the micro-batch",
        ),
        "balance": ("Stages alike", "move layers off the slow stage"),
        "lighter": ("Fewer layers on the ends", "their time goes to the stages between"),
        "free": (
            "No common pause between steps",
            "check the gradient norm after the update, and roll back if necessary",
        ),
    }


START: Change = {"schedule": "one_f_one_b", "pipeline_parallel": 8, "num_microbatches": 32}
SOLUTION: Change = {**START, "schedule": "zb_v"}


def challenge(result: Result) -> Challenge:
    """Return the challenge: under 5 percent of bubble in the memory of 1F1B."""
    chosen, case = result.chosen, result.case
    p, m = chosen.setting.pipeline_parallel, chosen.setting.num_microbatches
    conditions = (
        Condition(
            text=say("{p} stages and at most {m} micro-batches", p=(8, COUNT), m=(32, COUNT)),
            met=p == 8 and m <= 32,
        ),
        Condition(
            text="all three passes of 1 ms, messages free, all stages alike, nothing recomputed",
            met=(case.forward, case.backward_input, case.backward_weight) == (MILLI, MILLI, MILLI)
            and not (case.message or case.slowness or case.recompute or case.num_layers),
        ),
        Condition(text="F&B as long as F + B + W", met=case.overlapped == 1.0),
        Condition(
            text="no more memory than 1F1B, weights and activations",
            met=chosen.memory <= result.usual_memory * (1 + 1e-9),
        ),
        Condition(text=say("a bubble below {q}", q=(0.05, SHARE)), met=chosen.idle_share < 0.05),
    )
    return Challenge(
        title="Challenge: a small bubble in 1F1B's memory",
        goal="Bring the bubble below 5 percent of the step with the memory that 1F1B needs.",
        conditions=conditions,
        hints=(
            "Chunks shrink the bubble, but look at what the first stage then holds.",
            "The weight gradients of a micro-batch need not follow at once.",
            "In a V, the first stage is also the last.",
        ),
        start=START,
        solution=SOLUTION,
    )
