"""Verdicts of the parallelism modeler: feasibility, bottleneck, and goal."""

from engine.calculators.splitting_the_model.parallelism_modeler.inputs import Inputs
from engine.calculators.splitting_the_model.parallelism_modeler.result import Result
from engine.core.text import say
from engine.core.units import BYTES, SECONDS, SHARE
from engine.core.views import Badge
from engine.form.memory_fit import with_fit
from engine.form.run.verdicts import possible_badge as run_possible


def goal(inputs: Inputs, result: Result) -> Badge:
    """Return whether the exposed communication is within the allowed share."""
    now = result.ratio
    if now <= inputs.target:
        return Badge(
            text="Met",
            sentence=say(
                "{r} of the computation is allowed, {n} is waited for.",
                r=(inputs.target, SHARE),
                n=(now, SHARE),
            ),
            color="compute",
        )
    worst = max(result.plan.axes, key=lambda axis: axis.exposed)
    return Badge(
        text="Missed",
        sentence=say(
            f"{{r}} of the computation is allowed, {{n}} is waited for, most of it for "
            f"{worst.label}.",
            r=(inputs.target, SHARE),
            n=(now, SHARE),
        ),
        color=worst.key,
    )


def regime(result: Result) -> Badge:
    """Return the largest cost besides computation, or that the plan does not fit."""
    plan = result.plan
    fullest = plan.stages[plan.fullest].memory.total
    if not plan.fit.runs:
        return Badge(
            text="Capacity",
            sentence=say(
                f"Stage {plan.fullest} needs {{m}}, and {{u}} may be filled: the plan does not "
                "run.",
                m=(fullest, BYTES),
                u=(plan.usable, BYTES),
            ),
            color="buffers",
        )
    costs = [(axis.exposed, axis.label, axis.key) for axis in plan.axes]
    costs += [(plan.step.bubble, "Bubble", "muted"), (0.0, "Compute", "compute")]
    worst, name, color = max(costs)
    badge = Badge(
        text=name,
        sentence=say(
            "After computation, this is the largest part of the step: {t} of {s}.",
            t=(worst, SECONDS),
            s=(plan.step.total, SECONDS),
        )
        if worst
        else "The step computes all the time.",
        color=color,
    )
    return with_fit(badge, plan.fit)


def possible(inputs: Inputs, result: Result) -> Badge:
    """Return whether every size divides, in words."""
    run = result.plan.run
    badge = run_possible(run, result.plan.doubts, result.changes)
    if badge.text != "Possible":
        return badge
    if run.plan.virtual_pipeline > 1 and (inputs.off_first or inputs.off_last):
        sentence = "The pieces of an interleaved pipeline stay as they are; no layer was moved."
        return Badge(text="Not moved", sentence=sentence, color="communication")
    words = "Every size divides."
    if run.plan.stage_layers:
        words = f"Cut by hand: {', '.join(map(str, run.plan.stage_layers[:16]))} layers."
    return Badge(text="Possible", sentence=words, color="compute")
