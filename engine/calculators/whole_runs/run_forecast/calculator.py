"""Run forecast: from a plan to days, GPU hours, money and energy, with their ranges."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from engine.calculators.whole_runs.run_forecast.result import (
    LEAST,
    MOST,
    STEP,
    Curve,
    Inputs,
    Result,
)
from engine.calculators.whole_runs.run_forecast.result import PRESETS as PRESETS
from engine.core.inputs import Scalar
from engine.core.outputs import Presenter, Views
from engine.core.text import Text, say
from engine.core.units import DAY, GPU_TIME, RATIO, SECONDS, SHARE, Count, Ratio, with_digits
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Challenge,
    Citation,
    Condition,
    Lines,
    Point,
    Segment,
    Series,
    Table,
)
from engine.form.forecast_jobs import JOBS, Job
from engine.form.run.nearest_valid import nearest_run
from engine.form.run.prediction_text import value_with_range
from engine.form.saving_inputs import (
    LLAMA3_MTBF,
    NO_END_RECEIPT,
    NO_FAILURE_RECEIPT,
    checkpoint_policy,
    goodput_symbols,
    rounded_failures,
)
from engine.formulas import goodput, run
from engine.formulas import run as formulas
from engine.run.run import Run
from engine.simulate.job.failure_process import CheckpointPolicy
from engine.simulate.job.forecast import Forecast, JobTerms, forecast, modeled_terms
from engine.simulate.step.prediction_evidence import evidence
from engine.simulate.step.what_if import run_fit

# The forecast's numbers, from the inputs.

_DOUBLINGS = range(round(math.log2(LEAST)), round(math.log2(MOST)) + 1)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    job = JOBS[inputs.job]
    run, forecast, habits = _forecast(inputs, inputs.more)
    gpus, whole, parts = run.plan.world_size, forecast.run, forecast.parts
    hours, early, late = (
        formulas.gpu_time(gpus, item.wall) for item in (whole, forecast.early, forecast.late)
    )
    costs = tuple(formulas.cost(item, inputs.price) for item in (hours, early, late))
    energies = tuple(
        formulas.energy(item, inputs.power, inputs.overhead) for item in (hours, early, late)
    )
    return Result(
        wall_time=whole.wall,
        gpu_hours=hours,
        cost=costs[0],
        energy=energies[0],
        work_time=forecast.steps * forecast.step.total,
        ideal=parts.ideal,
        ideal_share=parts.ideal / whole.wall,
        goodput=whole.goodput,
        mtbf=habits.mtbf,
        slow_gpu=parts.slow_gpu,
        token_rate=forecast.rate,
        step=forecast.step.total,
        slow_down=forecast.slow_down,
        num_gpus=gpus,
        batch=run.training.global_batch_size,
        grown=_grown_batch(job, run),
        steps=float(math.ceil(forecast.steps)),
        failures=rounded_failures(whole.failures),
        early=forecast.early.wall,
        late=forecast.late.wall,
        low_hours=early,
        high_hours=late,
        low_cost=costs[1],
        high_cost=costs[2],
        low_energy=energies[1],
        high_energy=energies[2],
        draw=gpus * inputs.power * inputs.overhead,
        published=job.gpu_time,
        fit=run_fit(run),
        forecast=forecast,
        evidence=evidence(run),
        curve=_curve(inputs),
    )


def _forecast(inputs: Inputs, more: Ratio) -> tuple[Run, Forecast, CheckpointPolicy]:
    """Return the forecast of the job at a multiple of its plan's GPUs."""
    plan = JOBS[inputs.job].plan
    gpus = max(1, round(plan.world_size * more))
    run, _ = nearest_run(replace(plan, world_size=gpus, own_constants=inputs.own_constants))
    habits = checkpoint_policy(inputs, run.plan.world_size)
    return run, forecast(run, inputs.tokens, habits, inputs.slower), habits


def terms(inputs: Inputs) -> JobTerms:
    """Return the job of the page with all its losses."""
    run, predicted, habits = _forecast(inputs, inputs.more)
    return modeled_terms(
        run, inputs.tokens, predicted.step.total, slow_down=predicted.slow_down, policy=habits
    )


def steps_alone(inputs: Inputs) -> JobTerms:
    """Return the job without its losses."""
    return replace(terms(inputs), slow_down=1.0, policy=None)


def _grown_batch(job: Job, run: Run) -> Count:
    batch = run.training.global_batch_size
    return batch if batch > job.plan.global_batch_size else 0


def _curve(inputs: Inputs) -> Curve:
    """Return the job on other numbers of GPUs, as far as its batch and its memory allow."""
    rows = []
    for doubling in _DOUBLINGS:
        run, forecast, _ = _forecast(inputs, 2.0**doubling)
        more = run.plan.world_size / JOBS[inputs.job].plan.world_size
        possible = not _grown_batch(JOBS[inputs.job], run)
        room = run_fit(run).runs
        exact = more == 2.0**doubling  # otherwise the plan does not divide so many GPUs
        if exact and possible and room and math.isfinite(forecast.run.wall):
            rows.append((more, forecast.run.wall, run.plan.world_size))
    if not rows:
        return Curve(more=(), wall=(), perfect=(), cost=())
    least, longest, _ = rows[0]
    each = {more: wall * gpus for more, wall, gpus in rows}
    base = each.get(1.0, each[least])
    return Curve(
        more=tuple(more for more, _, _ in rows),
        wall=tuple(wall for _, wall, _ in rows),
        perfect=tuple(longest * least / more for more, _, _ in rows),
        cost=tuple(wall * gpus / base for _, wall, gpus in rows),
    )


# Charts of a forecast: waterfall, more GPUs, and published figures.

_PARTS = (
    ("kernels", "Kernels below the peak"),
    ("exposed", "Exposed communication"),
    ("bubble", "Pipeline bubble"),
    ("host", "Optimizer, host, jitter"),
    ("slow_gpu", "The slow GPU"),
    ("checkpoints", "Checkpoints"),
    ("redone", "Work done again"),
    ("restarts", "Restarts"),
)


def waterfall(present: Presenter, result: Result) -> Bars:
    """Return the run's time, grown part by part, and its range."""
    parts = result.forecast.parts
    so_far = parts.ideal
    peak = Segment(key="peak", label="at the peak", value=so_far, color="compute")
    bars = [Bar(key="ideal", label="At the peak of the GPUs", segments=(peak,))]
    for key, label in _PARTS:
        added = getattr(parts, key)
        if not math.isfinite(added) or (key == "slow_gpu" and not added):
            continue
        bars.append(_bar(key, label, so_far, max(0.0, added)))
        so_far += max(0.0, added)
    late = result.late if math.isfinite(result.late) else so_far
    real = Segment(key="run", label="the run", value=so_far, color="compute")
    bars.append(
        Bar(key="run", label="The run", segments=(real,), low=min(result.early, so_far), high=late)
    )
    return Bars(
        title="From the ideal to the real run",
        axis=present.axis("wall_time", "time", low=0.0, high=max(so_far, late) * 1.02),
        bars=tuple(bars),
        caption=present.say(
            "Of {wall_time}, the GPUs at their peak would need {ideal}. The line on the last bar "
            "is the range from the error of predicted steps."
        )
        if math.isfinite(result.wall_time)
        else "The job fails before it gets anywhere: the last parts have no end.",
    )


def _bar(key: str, label: str, before: float, added: float) -> Bar:
    segments = (
        Segment(key="before", label="so far", value=before, color="muted"),
        Segment(key="added", label="added", value=added, color="accent"),
    )
    return Bar(key=key, label=label, segments=segments)


def more_gpus(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the run's time over the number of GPUs at a fixed batch."""
    curve = result.curve
    x = result.num_gpus / JOBS[inputs.job].plan.world_size
    now = Point(key="now", label=present.say("{wall_time}"), x=x, y=result.wall_time)
    drawn = (*curve.wall, *curve.perfect) or (DAY,)
    low, high = min(drawn) / 1.5, max(drawn) * 1.5
    shown = not result.grown and result.fit.runs and math.isfinite(result.wall_time)
    return Lines(
        title="The same batch on more GPUs",
        x=Axis(
            label="GPUs over those of the plan", quantity=RATIO, low=LEAST, high=MOST, scale="log"
        ),
        y=present.axis("wall_time", "the run takes", low=low, high=high, scale="log"),
        series=(
            Series(key="wall", label="the run", x=curve.more, y=curve.wall, color="compute"),
            Series(
                key="perfect",
                label="twice the GPUs, half the time",
                x=curve.more,
                y=curve.perfect,
                color="muted",
                dashed=True,
            ),
        )
        if len(curve.more) > 1
        else (),
        points=(now,) if shown and low <= result.wall_time <= high and LEAST <= x <= MOST else (),
        handle="more",
        caption=_limits(result),
    )


def _limits(result: Result) -> Text:
    curve = result.curve
    if len(curve.more) < 2:
        return "No other number of GPUs fits this plan and its batch."
    return say(
        "On {m} the GPUs, the farthest that is drawn, the run costs {c} what it costs on the "
        "plan's own number.",
        m=(curve.more[-1], RATIO),
        c=(curve.cost[-1], RATIO),
    )


def forecast_formulas(present: Presenter, result: Result) -> Table:
    """Return the forecasts of four formulas, the simplest first."""
    parts = result.forecast.parts
    compute = parts.ideal + parts.kernels
    rows = (
        ("operations / peak", parts.ideal),
        ("computation", compute),
        ("computation and exposed communication", compute + parts.exposed),
        ("these, bubble, optimizer and host: the steps", result.work_time),
        ("the steps, a slow GPU, checkpoints and failures: the run", result.wall_time),
    )
    return Table(
        title="Five formulas for one job",
        columns=("Formula", "The run would take", "Of the run"),
        rows=tuple(
            (
                name,
                say("{t}", t=(time, SECONDS)),
                say("{s}", s=(time / result.wall_time, SHARE)),
            )
            for name, time in rows
        ),
    )


def published_comparison(inputs: Inputs, result: Result) -> Table:
    """Return published figures and forecast of the job; empty for an unpublished job."""
    job = JOBS[inputs.job]
    same_job = inputs.more == 1 and inputs.tokens == job.tokens
    if not same_job or not (job.gpu_time or job.wall):
        return Table(title="", columns=(), rows=())
    hours = bool(job.gpu_time)
    ours, low, high = (
        (result.gpu_hours, result.low_hours, result.high_hours)
        if hours
        else (result.wall_time, result.early, result.late)
    )
    theirs, quantity = (job.gpu_time, GPU_TIME) if hours else (job.wall, SECONDS)
    off = ours / theirs - 1
    return Table(
        title="Published of this job",
        columns=("Forecast", "Range", "Published", "Forecast off by", "As published", "Source"),
        rows=(
            (
                say("{p}", p=(ours, quantity)),
                say("{l} to {h}", l=(low, quantity), h=(high, quantity)),
                say("{v}", v=(theirs, quantity)),
                say(f"{'+' if off >= 0 else '−'}{{off}}", off=(abs(off), SHARE)),
                job.said,
                Citation((job.source,)),
            ),
        ),
    )


TITLE = "Forecast of a job"
QUESTION = "When is this job done, and what does it cost: from where to where?"
HEADLINE = "wall_time"
EQUATIONS = (
    run.RUN_TIME,
    run.GPU_HOURS,
    run.COST,
    run.ENERGY,
    run.WORK_TIME,
    goodput.GOODPUT,
    goodput.JOB_MTBF,
)
_NEVER = "it fails before it gets anywhere"

RUNS = {"wall_time": terms, "gpu_hours": terms, "work_time": steps_alone}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    ends = math.isfinite(result.wall_time)
    return {
        **_job_values(present, result),
        "verdict": _verdict(present, inputs, result),
        "waterfall": partial(waterfall, present, result),
        "formula": present.formula(
            "All of it in one line", run.RUN_TIME if ends else run.WORK_TIME
        ),
        "versions": partial(forecast_formulas, present, result),
        "beside": partial(published_comparison, inputs, result),
        "more_gpus": partial(more_gpus, present, inputs, result),
        "work_time": value_with_range(present, "work_time", result.evidence, assumes=(STEP,)),
        **present.values("ideal", "ideal_share", "mtbf", "slow_gpu"),
        "goodput": present.value("goodput", receipt=NO_FAILURE_RECEIPT if ends else NO_END_RECEIPT)
        if result.forecast.run.short or not ends
        else present.value(
            "goodput",
            symbols=goodput_symbols(inputs.interval, inputs.checkpoint, result.forecast.run.steps),
        ),
        "challenge": partial(_challenge, inputs, result),
    }


def _job_values(present: Presenter, result: Result) -> Views:
    """Return the job's time, GPU hours, cost and energy; no ranges without an end."""
    names = ("wall_time", "gpu_hours", "cost", "energy")
    if math.isfinite(result.wall_time) and math.isfinite(result.late):
        return present.values(*names)
    if math.isfinite(result.wall_time):
        note = "at least; with a slower step it never gets through"
        return {name: present.value(name, note=note) for name in names}
    return {name: present.value(name, note=_NEVER, receipt=NO_END_RECEIPT) for name in names}


def _verdict(present: Presenter, inputs: Inputs, result: Result) -> Badge:
    if not result.fit.runs:
        sentence = present.say("On {num_gpus} GPUs this plan does not fit into their memory.")
        return Badge(text="Does not fit", sentence=sentence, color="communication")
    if result.grown:
        sentence = present.say(
            "{num_gpus} GPUs need at least {grown} sequences in a step, more than the job has. "
            "These numbers are of a job with that larger batch, which learns differently."
        )
        return Badge(text="The batch is too small", sentence=sentence, color="communication")
    if math.isinf(result.wall_time):
        sentence = present.say(
            "Something fails every {mtbf}, before the next checkpoint is reached."
        )
        return Badge(text="Never done", sentence=sentence)
    beyond = "".join(f" {remark}" for remark in result.forecast.spread.beyond)
    return Badge(
        text="Ideal over real",
        sentence=present.say(
            "At their peak, the GPUs would need {ideal_share} of the time." + beyond
        ),
        color="compute",
    )


_DEADLINE = 75 * DAY
_START: Mapping[str, Scalar] = {"job": "405b", "tokens": JOBS["405b"].tokens, "more": 2.0}
_SOLUTION: Mapping[str, Scalar] = {
    **_START,
    "interval": 600.0,
    "checkpoint": 30.0,
    "restart": 300.0,
}


def _challenge(inputs: Inputs, result: Result) -> Challenge:
    same = (inputs.job, inputs.tokens, inputs.more) == tuple(_START.values())
    as_found = inputs.gpu_mtbf == LLAMA3_MTBF and not inputs.slower
    possible = inputs.checkpoint >= 30 and inputs.restart >= 300
    return Challenge(
        title="Twice the GPUs, and later",
        goal="Llama 3 405B on 32,768 H100 takes longer than on half as many. Change how it saves "
        "and restarts until the second half of the GPUs is worth having.",
        conditions=(
            Condition(text="the job, its tokens, twice the GPUs", met=same),
            Condition(text="GPUs that fail as Llama 3's did", met=as_found),
            Condition(
                text="a checkpoint of 30 s or more, a restart of 5 min or more", met=possible
            ),
            Condition(
                text=say(
                    "done within {d}, at the late end too", d=(_DEADLINE, with_digits(SECONDS))
                ),
                met=same and result.late <= _DEADLINE,
            ),
        ),
        hints=(
            "Which of the three bars before the last one of the waterfall is the longest?",
            "Set checkpoint and restart as short as the conditions allow; then the best interval "
            "is shorter, too.",
            "Young's interval is the square root of twice the checkpoint times the time between "
            "failures.",
        ),
        start=_START,
        solution=_SOLUTION,
    )
