"""Badges, charts and tables of the job planner."""

from engine.catalog.more_nodes import EVERY_NODE
from engine.catalog.rental_prices import RENTAL_PRICES
from engine.core.numbers import format_value
from engine.core.slices import Slices
from engine.core.text import Text, say
from engine.core.units import (
    BYTES,
    COUNT,
    DAY,
    HOUR,
    MONEY,
    PARAMETERS,
    SECONDS,
    Quantity,
)
from engine.core.views import Axis, Badge, Cell, Lines, Point, Rule, Series, Table
from engine.form.adjusted_inputs import join_sentences, with_changes
from engine.form.job_planner.answer import Answer
from engine.form.job_planner.inputs import NONE, Inputs, gpu_of, on_other_machine
from engine.form.job_planner.sizes import SizedPlan, in_time, largest_in_time, within
from engine.form.memory_fit import TITLES, fit_badge, tight_mark
from engine.form.planner.best_plan_text import MOVES, gain_text, limit_text, ties_text
from engine.form.planner.plan_table import listed_table
from engine.form.planner.plan_text import plan_name, split_text
from engine.simulate.planner.evaluate import Candidate

_TRAINED = {
    "continued": (
        "A step of continued training takes as long as one of training from scratch; only the "
        "tokens are others, and the checkpoint is read first.",
    ),
    "qlora": ("Weights in 4 bits are unpacked for every product.",),
}
_SUBJECT = "The process that holds most"
_NOTHING = "No plan fits this job on these GPUs."


def _name(candidate: Candidate) -> str:
    return plan_name(candidate.plan, candidate.training) + tight_mark(candidate.fit)


def plan_badge(inputs: Inputs, answer: Answer) -> Badge:
    """Return the best plan's name, what was rounded, and what no measured run covers."""
    batch = say("A step has {n} sequences.", n=(answer.batch, COUNT))
    if not answer.best or not answer.evidence:
        sentence = join_sentences((_no_plan_text(answer), batch), [])
        return with_changes(
            Badge(text=_no_plan_title(answer), sentence=sentence, color="communication"),
            answer.changes,
        )
    remarks = list(_TRAINED.get(inputs.trained, ()))
    remarks += answer.evidence().spread.beyond
    gpu = answer.job.cluster.gpu
    if (taken := gpu.computes_in(inputs.precision)) != inputs.precision:
        remarks.append(f"{gpu.name} has no {inputs.precision}; its {taken} peak is taken.")
    name = f"{plan_name(answer.best.plan, answer.best.training)}."
    return with_changes(
        Badge(text="Plan", sentence=join_sentences((name, batch), remarks), color="compute"),
        answer.changes,
    )


def _no_plan_title(answer: Answer) -> str:
    if answer.refused:
        return "Not priced"
    return "No plan fits" if answer.search.shapes else "No plan divides"


def _no_plan_text(answer: Answer) -> Text:
    if answer.refused:
        return f"This job is not priced: {'; '.join(answer.refused)}."
    if not answer.search.shapes:
        return say(
            "A batch of {b} sequences of {s} tokens does not divide over {n} GPUs: take another "
            "number of GPUs or sequences.",
            b=(answer.batch, COUNT),
            s=(answer.job.training.sequence_length, COUNT),
            n=(answer.job.world_size, COUNT),
        )
    return say(
        "The process of every plan that divides takes more than the {memory} of a GPU.",
        memory=(answer.job.cluster.gpu.memory, BYTES),
    )


def memory_badge(answer: Answer) -> Badge:
    """Return whether the best plan fits, just fits, or none does."""
    if not answer.best:
        tried = answer.search.shapes and not answer.refused
        title = TITLES["does not fit"] if tried else _no_plan_title(answer)
        return Badge(text=title, sentence=_no_plan_text(answer), color="communication")
    return fit_badge(answer.best.fit, _SUBJECT)


def limits_badge(answer: Answer) -> Badge:
    """Return the largest part of the best step that is no computation."""
    if not answer.limit:
        return Badge(text="Memory", sentence=_NOTHING, color="memory")
    text = "Computation" if answer.limit.computing > 0.9 else "Communication and waiting"
    return Badge(text=text, sentence=limit_text(answer.limit), color="compute")


def price_note(inputs: Inputs, answer: Answer) -> Text:
    """Return the price of a GPU, and whose it is."""
    listed = RENTAL_PRICES.get(gpu_of(inputs))
    hour = (answer.price * HOUR, MONEY)
    if inputs.price:
        return say("at {hour} for an hour of a GPU", hour=hour)
    if not listed:
        return "no list price of this GPU is known here: say yours"
    return say(
        f"at {{hour}} for an hour of a GPU, {listed.provider}'s list price in dollars of "
        f"{listed.date}",
        hour=hour,
    )


def moves_table(answer: Answer) -> Slices[Table]:
    """Return the gains from changes of the job itself."""
    columns = ("Change", "Speed", "Plan then")
    if not answer.moves:
        return Table(title="What would change it", columns=columns, rows=())
    rows: list[tuple[Cell, ...]] = [
        (MOVES[move.key], gain_text(move.gain, move.per_gpu), split_text(move.best.plan))
        for move in (yield from answer.moves.rest())
    ]
    return Table(
        title="What would change it",
        columns=columns,
        rows=tuple(rows),
        caption="For each change the plans near the best one are searched again.",
    )


def date_badge(inputs: Inputs, answer: Answer) -> Slices[Badge]:
    """Return the fewest GPUs that meet the date."""
    plans = yield from answer.sizes.rest()
    best = in_time(plans, inputs.deadline)
    numbers = {"date": (inputs.deadline, SECONDS)}
    if best is None:
        fastest = min(plans, key=lambda plan: plan.end, default=None)
        return Badge(
            text="Too late",
            sentence=_none_text(fastest, "is done within {date}", numbers),
            color="communication",
        )
    return Badge(
        text=f"{best.gpus:,} GPUs",
        sentence=say(
            "Of the numbers that were searched, {n} GPUs are the fewest that are done within "
            "{date}: {end} as pretraining runs went, {steps} if nothing fails" + _costs(best),
            **numbers,
            **_numbers(best),
        ),
        color="compute",
    )


def budget_badge(inputs: Inputs, answer: Answer) -> Slices[Badge]:
    """Return the number of GPUs that is done first within the budget."""
    plans = yield from answer.sizes.rest()
    if not answer.price:
        return Badge(text="No price", sentence="Say what a GPU costs you.", color="muted")
    best = within(plans, inputs.budget)
    numbers = {"budget": (inputs.budget, MONEY)}
    if best is None:
        cheapest = min(plans, key=lambda plan: plan.cost, default=None)
        return Badge(
            text="Too dear",
            sentence=_none_text(cheapest, "costs at most {budget}", numbers),
            color="communication",
        )
    return Badge(
        text=f"{best.gpus:,} GPUs",
        sentence=say(
            "Of the numbers that were searched, {n} GPUs are done first for at most {budget}: "
            "{end} as pretraining runs went, {steps} if nothing fails" + _costs(best),
            **numbers,
            **_numbers(best),
        ),
        color="compute",
    )


def _costs(plan: SizedPlan) -> str:
    return ", for {cost}." if plan.cost else "."


def _numbers(plan: SizedPlan) -> dict[str, tuple[float, Quantity]]:
    cost = {"cost": (plan.cost, MONEY)} if plan.cost else {}
    return {
        "n": (plan.gpus, COUNT),
        "end": (plan.end, SECONDS),
        "steps": (plan.steps, SECONDS),
        **cost,
    }


def _none_text(
    nearest: SizedPlan | None, wish: str, numbers: dict[str, tuple[float, Quantity]]
) -> Text:
    """Return that no number of GPUs meets a wish, and which comes nearest."""
    if nearest is None:
        return _NOTHING
    return say(
        f"No number of GPUs that was searched {wish}. Nearest come {{n}}: {{end}} as such runs "
        "ended, {steps} if nothing fails" + _costs(nearest),
        **numbers,
        **_numbers(nearest),
    )


def days_curve(inputs: Inputs, answer: Answer) -> Slices[Lines]:
    """Return the time of the run against the number of GPUs."""
    plans = yield from answer.sizes.rest()
    x = tuple(float(plan.gpus) for plan in plans)
    end = tuple(plan.end for plan in plans)
    steps = tuple(plan.steps for plan in plans)
    most = max((*end, inputs.deadline))
    least = min((*steps, inputs.deadline))
    return Lines(
        title="How many GPUs for how many days?",
        x=_gpus_axis(),
        y=Axis(
            label="the whole run", quantity=SECONDS, low=least / 1.3, high=1.3 * most, scale="log"
        ),
        series=(
            Series(key="end", label="as pretraining runs went", x=x, y=end, color="ink"),
            Series(
                key="steps", label="if nothing fails", x=x, y=steps, color="compute", dashed=True
            ),
        ),
        points=_now(answer, answer.in_the_end),
        handle="world_size",
        rules=(Rule(key="date", label="the date", axis="y", at=inputs.deadline, color="bad"),),
    )


def _machine_name(inputs: Inputs, answer: Answer) -> str:
    """Return the machine that is asked for, in words."""
    if inputs.machine in EVERY_NODE:
        return EVERY_NODE[inputs.machine].name
    return answer.job.cluster.gpu.name


def compared_badge(inputs: Inputs, answer: Answer) -> Slices[Badge]:
    """Return which of two machines costs less for the job, and which is done first."""
    if not answer.others:
        return Badge(
            text="One machine", sentence="Say another machine to compare the two.", color="muted"
        )
    here, there = yield from _both_asked(inputs, answer)
    name, other = _machine_name(inputs, answer), EVERY_NODE[inputs.other_machine].name
    if there is None or here is None:
        return Badge(
            text="No plan",
            sentence=f"No plan fits on {other if here else name}.",
            color="communication",
        )
    if not (here.cost and there.cost):
        first = name if here.end <= there.end else other
        return Badge(text="No price", sentence=_sooner(first, here, there), color="muted")
    cheaper, dearer = sorted((here, there), key=lambda plan: plan.cost)
    winner = name if cheaper is here else other
    return Badge(
        text=winner,
        sentence=say(
            f"{{n}} GPUs of {winner} cost {{low}} in the end and take {{end}}; {{m}} of "
            f"{other if cheaper is here else name} cost {{high}} and take {{last}}.",
            n=(cheaper.gpus, COUNT),
            m=(dearer.gpus, COUNT),
            low=(cheaper.cost, MONEY),
            high=(dearer.cost, MONEY),
            end=(cheaper.end, SECONDS),
            last=(dearer.end, SECONDS),
        ),
        color="compute",
    )


def _sooner(first: str, here: SizedPlan, there: SizedPlan) -> Text:
    return say(
        f"{first} is done first: {{a}} and {{b}}. Say what a GPU of each costs.",
        a=(here.end, SECONDS),
        b=(there.end, SECONDS),
    )


def _both_asked(
    inputs: Inputs, answer: Answer
) -> Slices[tuple[SizedPlan | None, SizedPlan | None]]:
    """Return the plans on the asked numbers of GPUs of both machines."""
    here = yield from answer.sizes.rest()
    there = (yield from answer.others.rest()) if answer.others else ()
    return _of_size(here, inputs.world_size), _of_size(there, inputs.other_world_size)


def _of_size(plans: tuple[SizedPlan, ...], gpus: int) -> SizedPlan | None:
    return next((plan for plan in plans if plan.gpus == gpus), None)


def compared_table(inputs: Inputs, answer: Answer) -> Slices[Table]:
    """Return the job on both machines, side by side; empty for one machine."""
    if not answer.others:
        return Table(title="", columns=(), rows=())
    plans = yield from _both_asked(inputs, answer)
    machines = (inputs, on_other_machine(inputs))
    rows: list[tuple[Cell, ...]] = []
    for machine, plan in zip(machines, plans, strict=True):
        name = _machine_name(machine, answer)
        if plan is None:
            rows.append((name, f"{machine.world_size:,}", "no plan fits", "", "", "", ""))
            continue
        rows.append((name, f"{plan.gpus:,}", *_sized_cells(plan)))
    return Table(
        title="Two machines",
        columns=("Machine", "GPUs", "In the end", "If nothing fails", "Cost", "Process", "Plan"),
        rows=tuple(rows),
        caption="Costs in the end, each at its own price; one currency for both.",
    )


def _sized_cells(plan: SizedPlan) -> tuple[Cell, ...]:
    return (
        say("{t}", t=(plan.end, SECONDS)),
        say("{t}", t=(plan.steps, SECONDS)),
        say("{c}", c=(plan.cost, MONEY)) if plan.cost else "",
        say("{m}", m=(plan.best.memory.total, BYTES)),
        _name(plan.best),
    )


def compared_curve(inputs: Inputs, answer: Answer) -> Slices[Lines]:
    """Return the cost of the job on both machines against the days it takes there."""
    here = yield from answer.sizes.rest()
    there = (yield from answer.others.rest()) if answer.others else ()
    both = [plan for plan in (*here, *there) if plan.cost]
    series = [
        Series(
            key=key,
            label=name,
            x=tuple(plan.end for plan in plans if plan.cost),
            y=tuple(plan.cost for plan in plans if plan.cost),
            color=color,
        )
        for key, name, plans, color in (
            ("here", _machine_name(inputs, answer), here, "compute"),
            ("there", _other_name(inputs), there, "memory"),
        )
        if any(plan.cost for plan in plans)
    ]
    most = max((plan.cost for plan in both), default=1.0)
    return Lines(
        title="What does each machine cost, done by when?",
        x=_days_axis(),
        y=Axis(label="cost in the end", quantity=MONEY, low=0.0, high=1.1 * most),
        series=tuple(series),
        handle="deadline",
        rules=(Rule(key="date", label="the date", axis="x", at=inputs.deadline, color="bad"),),
        caption="A point is a number of GPUs with its best plan, from a few on the right to many "
        "on the left. Of two curves the lower is the cheaper machine for that date.",
    )


def _other_name(inputs: Inputs) -> str:
    known = inputs.other_machine != NONE
    return EVERY_NODE[inputs.other_machine].name if known else ""


def _days_axis() -> Axis:
    """Return the axis over the range of the date, which is dragged on it."""
    return Axis(
        label="done, as pretraining runs went",
        quantity=SECONDS,
        low=0.1 * DAY,
        high=3650 * DAY,
        scale="log",
    )


def model_badge(inputs: Inputs, answer: Answer) -> Slices[Badge]:
    """Return the largest model of this shape that is trained by the date."""
    plans = (yield from answer.models.rest()) if answer.models else ()
    if not plans:
        text = "No model of this shape was tried." if answer.best else _NOTHING
        return Badge(text="No size", sentence=text, color="muted")
    largest = largest_in_time(plans, inputs.deadline)
    if largest is None:
        fastest = min(plans, key=lambda plan: plan.end)
        sentence = say(
            "No size that was searched is trained within {date}; one with {p} parameters takes "
            "{end}.",
            date=(inputs.deadline, SECONDS),
            p=(fastest.parameters, PARAMETERS),
            end=(fastest.end, SECONDS),
        )
        return Badge(text="Too late", sentence=sentence, color="communication")
    sentence = say(
        "Of the sizes that were searched, the largest that is trained within {date} on {n} GPUs "
        "has {p} parameters: {end} as pretraining runs went, {steps} if nothing fails"
        + _costs(largest),
        date=(inputs.deadline, SECONDS),
        p=(largest.parameters, PARAMETERS),
        **_numbers(largest),
    )
    parameters = format_value(largest.parameters, PARAMETERS)
    return Badge(text=f"{parameters} parameters", sentence=sentence, color="compute")


def model_curve(inputs: Inputs, answer: Answer) -> Slices[Lines]:
    """Return how large a model of this shape is trained by when."""
    plans = (yield from answer.models.rest()) if answer.models else ()
    x, y = tuple(plan.end for plan in plans), tuple(plan.parameters for plan in plans)
    low, high = min(y, default=1e9) / 1.5, 1.5 * max(y, default=1e11)
    return Lines(
        title="How large a model by which date?",
        x=_days_axis(),
        y=Axis(label="parameters", quantity=PARAMETERS, low=low, high=high, scale="log"),
        series=(Series(key="sizes", label="of this shape", x=x, y=y, color="ink"),)
        if plans
        else (),
        handle="deadline",
        rules=(Rule(key="date", label="the date", axis="x", at=inputs.deadline, color="bad"),),
        caption="Width and layers are scaled together, from a quarter to half as much again; the "
        "tokens, the batch and the GPUs stay.",
    )


def cost_curve(inputs: Inputs, answer: Answer) -> Slices[Lines]:
    """Return the cost of the run against the number of GPUs."""
    plans = yield from answer.sizes.rest()
    x = tuple(float(plan.gpus) for plan in plans)
    y = tuple(plan.cost for plan in plans)
    most = max((*y, inputs.budget))
    return Lines(
        title="What does it cost?",
        x=_gpus_axis(),
        y=Axis(label="as pretraining runs went", quantity=MONEY, low=0.0, high=1.1 * most),
        series=(Series(key="cost", label="cost", x=x, y=y, color="ink"),),
        points=_now(answer, answer.cost),
        handle="world_size",
        rules=(Rule(key="budget", label="the budget", axis="y", at=inputs.budget, color="bad"),),
    )


def _gpus_axis() -> Axis:
    """Return the axis over the range of the number of GPUs, which is dragged on it."""
    return Axis(label="GPUs", quantity=COUNT, low=1.0, high=131_072.0, scale="log")


def _now(answer: Answer, y: float) -> tuple[Point, ...]:
    gpus = answer.job.world_size
    if not answer.best or gpus not in answer.asked:
        return ()
    return (Point(key="now", label="asked", x=float(gpus), y=y),)


def sizes_table(answer: Answer) -> Slices[Table]:
    """Return the best plan on each number of GPUs."""
    plans = yield from answer.sizes.rest()
    rows: list[tuple[Cell, ...]] = [
        (
            say("{n}", n=(plan.gpus, COUNT)),
            *_sized_cells(plan),
        )
        for plan in plans
    ]
    columns = ("GPUs", "In the end", "If nothing fails", "Cost", "Process", "Plan")
    return Table(
        title="The best plan on each number of GPUs",
        columns=columns,
        rows=tuple(rows),
        caption="The batch stays as it is. Numbers over which it does not divide are left out, and "
        "so are those on which no plan fits.",
    )


def ties_badge(answer: Answer) -> Slices[Badge]:
    """Return the kinds of plans that tie with the best, and the simplest plan of them."""
    if not answer.tie:
        return Badge(text="No tie", sentence=_NOTHING, color="muted")
    tie = yield from answer.tie.rest()
    text = "A tie" if len(tie.kinds) > 1 else "No tie"
    return Badge(text=text, sentence=ties_text(tie), color="compute")


def plans_table(answer: Answer) -> Slices[Table]:
    """Return the fastest plan, the plans of other kinds that tie with it, and slower ones."""
    kinds = (yield from answer.tie.rest()).kinds if answer.tie else ()
    return listed_table(answer.search.best, kinds, len(answer.search.best))
