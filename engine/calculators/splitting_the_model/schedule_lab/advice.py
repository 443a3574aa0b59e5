"""What keeps the stages idle, what each remedy would give, and a challenge."""

from collections.abc import Mapping
from dataclasses import replace

from engine.basis.text import Text, say
from engine.basis.units import COUNT, MILLI, SHARE
from engine.basis.views import Advice, Badge, Challenge, Condition, Remedy
from engine.calculators.splitting_the_model.schedule_lab.result import Result
from engine.form.counted import noun
from engine.simulate.schedule_bench import Played, cost, played
from engine.simulate.schedule_case import Case

Change = Mapping[str, float | int | str | bool]
_SCHEDULES = ("interleaved", "zb_h1", "zb_v", "dualpipe_v")
_LARGEST = 3_000  # operations of a run that is only there for a remedy


def regime(case: Case, own: Played) -> Badge:
    """Return why stages idle: slow stage, messages, a common pause, or filling and draining."""
    badge, setting = _regime(case, own), own.setting
    if not setting.reason:
        return badge
    batches = noun(setting.num_microbatches, "micro-batch")
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


def _regime(case: Case, own: Played) -> Badge:
    if own.share < 0.01:
        return Badge(text="Compute", sentence="The stages hardly ever wait.", color="compute")
    for name, text, change in _causes(case):
        without = _play(case, own, change)
        if without is not None and without.share < own.share / 2:
            return Badge(
                text=name,
                sentence=say(text, q=(own.share, SHARE), r=(without.share, SHARE)),
                color="communication" if name == "Messages" else "ink",
            )
    batches = noun(own.setting.num_microbatches, "micro-batch")
    words = f"{{q}} of the step is idle: {{p}} stages fill and drain for only {{m}} {batches}."
    if own.name == "naive":
        words = "{q} of the step is idle: only one of {p} stages works at a time."
    return Badge(
        text="Fill and drain",
        sentence=say(
            words,
            q=(own.share, SHARE),
            p=(own.setting.pipeline_parallel, COUNT),
            m=(own.setting.num_microbatches, COUNT),
        ),
    )


def _causes(case: Case) -> list[tuple[str, str, Change]]:
    """Return what could be at fault, and the change that takes it away."""
    found: list[tuple[str, str, Change]] = []
    if case.slowness:
        text = "{q} of the step is idle; with stages alike it would be {r}."
        found.append(("Straggler", text, {"slowness": 0.0}))
    if case.num_layers:
        text = "{q} of the step is idle; with stages that take equally long it would be {r}."
        found.append(("Uneven stages", text, {"num_layers": 0}))
    if case.message:
        text = "{q} of the step is idle; with free messages it would be {r}."
        found.append(("Messages", text, {"message": 0.0}))
    if case.synchronized:
        text = "{q} of the step is idle; without the common pause it would be {r}."
        found.append(("Common pause", text, {"synchronized": False}))
    return found


def _play(case: Case, own: Played, change: Change) -> Played | None:
    """Return the figures after a change; None if it would take too long, or cannot run."""
    changed = replace(case, **change)  # type: ignore[arg-type]
    if cost(changed.pipeline_parallel, changed.num_microbatches, 1) > _LARGEST:
        return None
    found = played(changed)
    return None if found.setting.reason and not own.setting.reason else found


def advice(case: Case, own: Played, others: Mapping[str, Played | str]) -> Advice:
    """Return every remedy that is within range, with the bubble that it leaves.

    `others` are the schedules with the reader's numbers; those drawn out from shorter runs are
    left out, for what a remedy promises is exact.
    """
    found = [
        *_of_schedules(own, others),
        *(
            _remedy(own, after, key, label, change, side)
            for key, label, change, side in _candidates(case)
            if (after := _play(case, own, change)) is not None
        ),
    ]
    useful = [one for one in found if one.after < own.share * 0.9995 - 1e-9]
    useful.sort(key=lambda remedy: remedy.after)
    return Advice(
        title="What would help",
        verdict="Each line gives the bubble after one change."
        if useful
        else "No change known here leaves a smaller bubble.",
        figure="bubble, share of the step",
        now=own.share,
        quantity=SHARE,
        remedies=tuple(useful[:6]),
    )


def _of_schedules(own: Played, others: Mapping[str, Played | str]) -> list[Remedy]:
    return [
        _remedy(own, one, name, one.title, {"schedule": name}, "")
        for name in _SCHEDULES
        if isinstance(one := others.get(name), Played) and not one.continued and one is not own
    ]


def _remedy(
    own: Played, after: Played, key: str, label: Text, change: Change, side: Text
) -> Remedy:
    return Remedy(
        key=key,
        label=label,
        change=change,
        after=after.share,
        side_effect=side or _memory(own, after),
    )


def _memory(own: Played, after: Played) -> Text:
    if after.peak == own.peak:
        batches = noun(after.peak, "micro-batch")
        return say(f"holds {{a}} {batches}, as now", a=(after.peak, COUNT))
    return say(
        f"holds {{a}} {noun(after.peak, 'micro-batch')} instead of {{b}}",
        a=(after.peak, COUNT),
        b=(own.peak, COUNT),
    )


def _candidates(case: Case) -> list[tuple[str, Text, Change, Text]]:
    found: list[tuple[str, Text, Change, Text]] = []
    if 2 * case.num_microbatches <= 256:
        label = say("{m} micro-batches", m=(2 * case.num_microbatches, COUNT))
        side = "doubles the global batch, or halves the micro-batch"
        found.append(("more", label, {"num_microbatches": 2 * case.num_microbatches}, side))
    if case.slowness:
        side = "move layers off the slow stage"
        found.append(("balance", "Stages alike", {"slowness": 0.0}, side))
    if case.num_layers and (case.off_first, case.off_last) == (0, 0):
        # Each end gives as many layers as it has to do besides them.
        moved = {"off_first": round(case.embedding), "off_last": round(case.output)}
        side = "their time goes to the stages between"
        found.append(("lighter", "Fewer layers on the ends", moved, side))
    if case.synchronized:
        side = "check the gradient norm after the update, and roll back if necessary"
        found.append(("free", "No common pause between steps", {"synchronized": False}, side))
    return found


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
        Condition(text=say("a bubble below {q}", q=(0.05, SHARE)), met=own.share < 0.05),
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
