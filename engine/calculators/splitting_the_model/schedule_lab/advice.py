"""Causes of idle stages, gains of each remedy, and the challenge."""

from collections.abc import Mapping
from dataclasses import replace

from engine.calculators.splitting_the_model.schedule_lab.changes import Change, candidate_changes
from engine.calculators.splitting_the_model.schedule_lab.result import Result
from engine.core.text import Text, say
from engine.core.units import COUNT, MILLI, SHARE
from engine.core.views import Advice, Badge, Challenge, Condition, Remedy
from engine.form.plural import pluralize
from engine.simulate.pipeline.schedule_bench import ScheduleResult
from engine.simulate.pipeline.schedule_case import ScheduleCase

_SCHEDULES = ("interleaved", "zb_h1", "zb_v", "dualpipe_v")
# What could be at fault: the change that takes it away, its name, and the step without it.
_CAUSES = (
    ("balance", "Straggler", "with stages alike"),
    ("alike", "Uneven stages", "with stages that take equally long"),
    ("messages", "Messages", "with free messages"),
    ("free", "Common pause", "without the common pause"),
)


def regime(result: Result) -> Badge:
    """Return why stages idle: slow stage, messages, a common pause, or filling and draining."""
    badge, own = _regime(result), result.own
    setting = own.setting
    if not setting.reason:
        return badge
    batches = pluralize(setting.num_microbatches, "micro-batch")
    words = f"Played with {{p}} stages and {{m}} {batches}: "
    words += f"{own.title} {setting.reason}." if setting.refused else f"{setting.reason}."
    return replace(
        badge,
        sentence=say(
            words,
            p=(setting.pipeline_parallel, COUNT),
            m=(setting.num_microbatches, COUNT),
        ),
    )


def _regime(result: Result) -> Badge:
    own = result.own
    if own.idle_share < 0.01:
        return Badge(text="Compute", sentence="The stages hardly ever wait.", color="compute")
    for key, name, without in _CAUSES:
        after = result.changed[key]() if key in result.changed else None
        if after is not None and after.idle_share < own.idle_share / 2:
            return Badge(
                text=name,
                sentence=say(
                    f"{{q}} of the step is idle; {without} it would be {{r}}.",
                    q=(own.idle_share, SHARE),
                    r=(after.idle_share, SHARE),
                ),
                color="communication" if name == "Messages" else "ink",
            )
    batches = pluralize(own.setting.num_microbatches, "micro-batch")
    words = f"{{q}} of the step is idle: {{p}} stages fill and drain for only {{m}} {batches}."
    if own.name == "naive":
        words = "{q} of the step is idle: only one of {p} stages works at a time."
    return Badge(
        text="Fill and drain",
        sentence=say(
            words,
            q=(own.idle_share, SHARE),
            p=(own.setting.pipeline_parallel, COUNT),
            m=(own.setting.num_microbatches, COUNT),
        ),
    )


def advice(result: Result) -> Advice:
    """Return every remedy within range, with its remaining bubble.

    Of the schedules with the reader's numbers those drawn out from shorter runs are left out, for
    what a remedy promises is exact.
    """
    own, changes = result.own, candidate_changes(result.case)
    remedies = [
        *_of_schedules(own, result.others),
        *(
            _remedy(own, after, key, label, changes[key], side)
            for key, (label, side) in _candidates(result.case).items()
            if key in changes and (after := result.changed[key]()) is not None
        ),
    ]
    useful = [remedy for remedy in remedies if remedy.after < own.idle_share * 0.9995 - 1e-9]
    useful.sort(key=lambda remedy: remedy.after)
    return Advice(
        title="What would help",
        verdict="Each line gives the bubble after one change."
        if useful
        else "No change that was played leaves a smaller bubble.",
        figure="bubble, share of the step",
        now=own.idle_share,
        quantity=SHARE,
        remedies=tuple(useful[:6]),
    )


def _of_schedules(own: ScheduleResult, others: Mapping[str, ScheduleResult | str]) -> list[Remedy]:
    return [
        _remedy(own, schedule, name, schedule.title, {"schedule": name}, "")
        for name in _SCHEDULES
        if isinstance(schedule := others.get(name), ScheduleResult)
        and not schedule.extrapolated
        and schedule is not own
    ]


def _remedy(
    own: ScheduleResult, after: ScheduleResult, key: str, label: Text, change: Change, side: Text
) -> Remedy:
    return Remedy(
        key=key,
        label=label,
        change=change,
        after=after.idle_share,
        side_effect=side or _memory(own, after),
    )


def _memory(own: ScheduleResult, after: ScheduleResult) -> Text:
    if after.peak == own.peak:
        batches = pluralize(after.peak, "micro-batch")
        return say(f"holds {{a}} {batches}, as now", a=(after.peak, COUNT))
    return say(
        f"holds {{a}} {pluralize(after.peak, 'micro-batch')} instead of {{b}}",
        a=(after.peak, COUNT),
        b=(own.peak, COUNT),
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
    own, case = result.own, result.case
    p, m = own.setting.pipeline_parallel, own.setting.num_microbatches
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
            met=own.memory <= result.usual_memory * (1 + 1e-9),
        ),
        Condition(text=say("a bubble below {q}", q=(0.05, SHARE)), met=own.idle_share < 0.05),
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
