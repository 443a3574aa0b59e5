"""Badges, charts and tables of the job planner."""

from engine.catalog.rental_prices import RENTAL_PRICES
from engine.core.slices import Slices
from engine.core.text import Text, say
from engine.core.units import BYTES, COUNT, HOUR, MONEY, RATIO, SECONDS, Quantity
from engine.core.views import Axis, Badge, Cell, Lines, Point, Rule, Series, Table
from engine.form.adjusted_inputs import join_sentences, with_changes
from engine.form.job_planner.answer import Answer, SizedPlan, in_time, within
from engine.form.job_planner.inputs import Inputs, gpu_of
from engine.form.memory_fit import TITLES, fit_badge, tight_mark
from engine.form.planner.plan_text import MOVES, gain_text, limit_text, plan_name, split_text
from engine.simulate.planner.evaluate import Candidate

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
            Badge(text="No plan fits", sentence=sentence, color="communication"), answer.changes
        )
    said = list(answer.evidence().spread.beyond)
    gpu = answer.job.cluster.gpu
    if (taken := gpu.computes_in(inputs.precision)) != inputs.precision:
        said.append(f"{gpu.name} has no {inputs.precision}; its {taken} peak is taken.")
    name = f"{plan_name(answer.best.plan, answer.best.training)}."
    return with_changes(
        Badge(text="Plan", sentence=join_sentences((name, batch), said), color="compute"),
        answer.changes,
    )


def _no_plan_text(answer: Answer) -> Text:
    if not answer.found.shapes:
        return say(
            "A batch of {b} sequences of {s} tokens does not divide over {n} GPUs.",
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
        return Badge(
            text=TITLES["does not fit"], sentence=_no_plan_text(answer), color="communication"
        )
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
            "{date}: {end} as such runs ended, {steps} if nothing fails" + _costs(best),
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
            "{end} as such runs ended, {steps} if nothing fails" + _costs(best),
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
        x=_gpus_axis(answer),
        y=Axis(
            label="the whole run", quantity=SECONDS, low=least / 1.3, high=1.3 * most, scale="log"
        ),
        series=(
            Series(key="end", label="as such runs ended", x=x, y=end, color="ink"),
            Series(
                key="steps", label="if nothing fails", x=x, y=steps, color="compute", dashed=True
            ),
        ),
        points=_now(answer, answer.in_the_end),
        rules=(Rule(key="date", label="the date", axis="y", at=inputs.deadline, color="bad"),),
    )


def cost_curve(inputs: Inputs, answer: Answer) -> Slices[Lines]:
    """Return the cost of the run against the number of GPUs."""
    plans = yield from answer.sizes.rest()
    x = tuple(float(plan.gpus) for plan in plans)
    y = tuple(plan.cost for plan in plans)
    most = max((*y, inputs.budget))
    return Lines(
        title="What does it cost?",
        x=_gpus_axis(answer),
        y=Axis(label="as such runs ended", quantity=MONEY, low=0.0, high=1.1 * most),
        series=(Series(key="cost", label="cost", x=x, y=y, color="ink"),),
        points=_now(answer, answer.cost),
        rules=(Rule(key="budget", label="the budget", axis="y", at=inputs.budget, color="bad"),),
    )


def _gpus_axis(answer: Answer) -> Axis:
    low, high = answer.asked[0] / 1.2, 1.2 * answer.asked[-1]
    return Axis(label="GPUs", quantity=COUNT, low=low, high=high, scale="log")


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
            say("{t}", t=(plan.end, SECONDS)),
            say("{t}", t=(plan.steps, SECONDS)),
            say("{c}", c=(plan.cost, MONEY)) if plan.cost else "",
            say("{m}", m=(plan.best.memory.total, BYTES)),
            _name(plan.best),
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


def plans_table(answer: Answer) -> Table:
    """Return the fastest plans."""
    rows: list[tuple[Cell, ...]] = [
        (
            say("{t}", t=(candidate.step, SECONDS)),
            say("{r}", r=(candidate.step / answer.step, RATIO)),
            say("{m}", m=(candidate.memory.total, BYTES)),
            _name(candidate),
        )
        for candidate in answer.found.best
    ]
    return Table(
        title="The fastest plans",
        columns=("Step", "Of the best", "Process", "Plan"),
        rows=tuple(rows),
    )
