"""Job time: real completion time and cost of a run."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

from engine.calculators.whole_runs.job_time.result import (
    INTERVALS,
    LONGEST,
    QUANTILE,
    SHORTEST,
    SIZES,
    Result,
    curves,
)
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.publications import LLAMA_3_405B
from engine.core.outputs import Figure, Presenter, Views
from engine.core.units import SECONDS, SHARE, FlopRate, TokenRate
from engine.core.views import (
    Axis,
    Badge,
    Bar,
    Bars,
    Line,
    Lines,
    Published,
    Receipt,
    Rule,
    Scale,
    Segment,
    Series,
    Value,
)
from engine.form.forecast_jobs import modeled_utilization
from engine.form.job_inputs import PRESETS as PRESETS
from engine.form.job_inputs import Inputs
from engine.form.plan_to_reality import in_the_end
from engine.form.saving_inputs import (
    LLAMA3_FAILURES,
    LLAMA3_GPUS,
    LLAMA3_WINDOW,
    LONG_CHECKPOINT_RECEIPT,
    checkpoint_policy,
    rounded_failures,
)
from engine.formulas import goodput, run, stragglers
from engine.formulas import goodput as saving
from engine.simulate.job.forecast import JobTerms, job_run

# Job time's numbers, from the inputs.


def _rate(inputs: Inputs) -> TokenRate:
    """Return the tokens per second of one GPU, all usual waiting included."""
    if inputs.speed_from == "measured":
        return inputs.rate
    share = modeled_utilization() if inputs.speed_from == "model" else inputs.utilization
    return run.token_rate(inputs.parameters, share, _peak(inputs))


def _peak(inputs: Inputs) -> FlopRate:
    gpu = ACCELERATORS[inputs.gpu]
    return gpu.peak.get("bf16") or gpu.peak["fp16"]


def terms(inputs: Inputs) -> JobTerms:
    """Return the job of the page with all its losses; a slow GPU stretches all of a step."""
    return JobTerms(
        work=run.work_time(inputs.tokens, inputs.num_gpus, _rate(inputs)),
        slow_down=stragglers.slowest_with_one_slow(inputs.num_gpus, 0.0, inputs.slower),
        policy=checkpoint_policy(inputs, inputs.num_gpus),
    )


def steps_alone(inputs: Inputs) -> JobTerms:
    """Return the job without its losses."""
    return replace(terms(inputs), slow_down=1.0, policy=None)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    num_gpus, job = inputs.num_gpus, terms(inputs)
    rate, peak, habits = _rate(inputs), _peak(inputs), checkpoint_policy(inputs, inputs.num_gpus)
    reached = run.utilization(inputs.parameters, rate, peak)
    work, whole = job_run(steps_alone(inputs)).wall, job_run(job)
    slow_down = stragglers.slowest_with_one_slow(num_gpus, inputs.deviation, inputs.slower)
    jitter = stragglers.slowest_of(num_gpus, inputs.deviation)
    mtbf = habits.mtbf
    gpus = run.gpu_time(num_gpus, whole.wall)
    end_low, end, end_high = in_the_end(work)
    terms_of_goodput = inputs.checkpoint, inputs.restart, mtbf
    daly = saving.daly_interval(inputs.checkpoint, mtbf)
    lucky = stragglers.all_below(QUANTILE, num_gpus)
    return Result(
        wall_time=whole.wall,
        gpu_hours=gpus,
        cost=run.cost(gpus, inputs.price),
        energy=run.energy(gpus, inputs.power, inputs.overhead),
        work_time=work,
        token_rate=rate,
        reached=reached,
        mtbf=mtbf,
        goodput=whole.goodput,
        first_order=saving.first_order_goodput(inputs.interval, *terms_of_goodput),
        young=saving.young_interval(inputs.checkpoint, mtbf),
        daly=daly,
        best_goodput=saving.goodput(daly, *terms_of_goodput),
        slow_down=slow_down,
        bound=stragglers.largest_possible(num_gpus, inputs.deviation),
        all_below=lucky,
        slow_gpu=gpus if math.isinf(gpus) else stragglers.lost_to_waiting(gpus, job.slow_down),
        peak=peak,
        at_peak=work * min(reached, 1.0),
        work=work * num_gpus,
        jitter=jitter,
        slow_factor=job.slow_down,
        in_the_end=end,
        end_low=end_low,
        end_high=end_high,
        end_hours=end * num_gpus,
        quantile=QUANTILE,
        steps=whole.steps,
        waiting=whole.steps - work,
        spread=whole.spread,
        checkpoints=whole.checkpoints,
        restarts=whole.restarts,
        redone=whole.redone,
        failures=rounded_failures(whole.failures),
        draw=num_gpus * inputs.power * inputs.overhead,
        one_in=1 / lucky if lucky else math.inf,
        known_failures=LLAMA3_FAILURES,
        known_all=LLAMA_3_405B.interruptions,
        known_effective=LLAMA_3_405B.effective,
        known_hours=LLAMA_3_405B.gpu_time,
        known_wall=LLAMA_3_405B.wall,
        known_window=LLAMA3_WINDOW,
        known_gpus=LLAMA3_GPUS,
        chance=whole.chance,
        short=whole.short,
        curves=curves(inputs, habits, slow_down),
    )


# Values of job time whose wording depends on the run.

Words = dict[str, Any]  # of a number, where they differ from those declared
_RAREST = 1e-6
_NEVER = "it fails before it gets anywhere"
_SHORT = Receipt(
    assumptions=(
        "The run is over before the first checkpoint is due, and hardly anything can fail in it.",
    ),
)


def _published_figure(
    present: Presenter, inputs: Inputs, text: str, reason: str, source: str
) -> Words:
    """Return the published figure, if the inputs match a published run."""
    known = LLAMA_3_405B
    job = inputs.num_gpus, inputs.gpu, inputs.tokens, inputs.parameters
    if job != (known.world_size, known.gpu, known.tokens, known.parameters):
        return {}
    return {"published": Published(text=present.say(text), reason=reason, source=source)}


def outcome_values(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return wall time, GPU hours, cost and energy."""
    words: Words = {} if math.isfinite(result.wall_time) else {"note": _NEVER}
    if result.short:
        words = {"note": "over before the first checkpoint is due"}
    words |= _published_figure(
        present,
        inputs,
        "the model card of Llama 3.1 405B gives {known_hours}, {known_wall} of all its GPUs",
        "Those are all hours of the run, also of its start with a smaller batch.",
        "llama31_card",
    )
    return {
        "wall_time": present.value("wall_time", symbols={"m": "slow_factor"}, **words),
        **present.values("gpu_hours", "in_the_end", "cost", "energy"),
        **_singular(present, inputs),
    }


def _singular(present: Presenter, inputs: Inputs) -> dict[str, Value]:
    """Return the wording in the singular if the job has a single GPU."""
    if inputs.num_gpus > 1:
        return {}
    return {
        "gpu_hours": present.value("gpu_hours", note="one GPU for the whole run"),
        "energy": present.value("energy", note="one GPU draws {draw} with its building"),
    }


def speed_value(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return the ideal run time and its throughput."""
    gpu = ACCELERATORS[inputs.gpu]
    peak: Words = {
        "assumes": (
            f"{gpu.name}, dense 16-bit peak {{peak}}.",
            "Six operations per parameter and token; attention scores left out.",
        ),
        "sources": (gpu.source,),
    }
    receipt = Receipt(basis="measured", assumptions=("As the reader gives it.",))
    source: Words = (
        {"note": "at the MFU that the step model gives Llama 3 405B's published plan"}
        if inputs.speed_from == "model"
        else {}
    )
    too_fast: Words = {"note": "more than there is: check the speed"} if result.reached > 1 else {}
    return {
        **present.values("work_time"),
        "token_rate": present.value("token_rate", receipt=receipt, note="as measured")
        if inputs.speed_from == "measured"
        else present.value("token_rate", symbols={"u": "reached"}, **source, **peak),
        "reached": present.value("reached", **peak, **too_fast),
    }


def _segment_words(inputs: Inputs, result: Result) -> dict[str, Figure | str]:
    """Return the work between checkpoints and a checkpoint's time, in words."""
    if result.steps <= inputs.interval:
        return {"t": "steps", "d": (0.0, SECONDS)}
    return {"t": "interval"}


def failure_values(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return failure rate, checkpoint interval and goodput."""
    words: Words = {} if math.isfinite(result.failures) else {"note": _NEVER}
    if result.failures < 1:
        words = {"note": "{chance} chance of a failure in the run"}
    meta = _published_figure(
        present,
        inputs,
        "Meta reports more than {known_effective} effective training time for Llama 3 405B",
        "Its interval, its checkpoints and its restarts are not published; those set here are "
        "round numbers, and shorter ones give as much.",
        "dubey2024",
    )
    short = inputs.checkpoint < 2 * result.mtbf
    return {
        "mtbf": present.value("mtbf", **words),
        "goodput": present.value("goodput", receipt=_SHORT, note="nothing is likely to fail")
        if result.short
        else present.value("goodput", symbols=_segment_words(inputs, result), **meta),
        "first_order": present.value(
            "first_order",
            equation=goodput.FIRST_ORDER_GOODPUT,
            symbols={"t": "interval"},
        ),
        "young": present.value("young", equation=goodput.YOUNG_INTERVAL),
        "daly": present.value("daly", equation=goodput.DALY_INTERVAL)
        if short
        else present.value("daly", receipt=LONG_CHECKPOINT_RECEIPT),
        "best_goodput": present.value("best_goodput", symbols={"t": "daly"}),
    }


def straggler_values(present: Presenter, inputs: Inputs, result: Result) -> dict[str, Value]:
    """Return the cost of waiting for stragglers."""
    rare: Words = {"note": "less than one step in a million"} if result.all_below <= _RAREST else {}
    alike: Words = {"note": "set how much slower it is"} if inputs.slower == 0 else {}
    return {
        **present.values("slow_down"),
        "bound": present.value("bound", equation=stragglers.LARGEST_POSSIBLE),
        "all_below": present.value("all_below", **rare),
        "slow_gpu": present.value("slow_gpu", **alike),
    }


# Charts of job time: waterfall, goodput, stragglers, and a simulated run.

_ENDLESS = "The job fails before it gets anywhere: the last two parts have no end."


def waterfall(present: Presenter, result: Result) -> Bars:
    """Return the run's time, grown part by part; a part without end is left out."""
    parts = (
        ("Waste below the peak", result.work_time - result.at_peak),
        ("Waiting for the slow GPU", result.waiting),
        ("Checkpoints", result.checkpoints),
        ("Work done again", result.redone),
        ("Restarts", result.restarts),
    )
    so_far = result.at_peak
    peak = Segment(key="peak", label="at the peak", value=so_far, color="compute")
    bars = [Bar(key="peak", label="At the peak of the GPUs", segments=(peak,))]
    for number, (label, added) in enumerate(parts):
        if not math.isfinite(added):
            continue
        before = Segment(key="before", label="so far", value=so_far, color="muted")
        more = Segment(key="added", label="added", value=added, color="accent")
        bars.append(Bar(key=f"part{number}", label=label, segments=(before, more)))
        so_far += added
    real = present.say("Of {wall_time}, the GPUs at their peak would need {at_peak}.")
    return Bars(
        title="From the ideal to the real run",
        axis=present.axis("wall_time", "time", low=0.0, high=so_far * 1.02),
        bars=tuple(bars),
        caption=real if math.isfinite(result.wall_time) else _ENDLESS,
    )


def goodput_curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return goodput over the work between checkpoints, with the handle on it."""
    best = Rule(key="best", label=present.say("best: {daly}"), axis="x", at=result.daly)
    return present.curve(
        "Goodput against the work between two checkpoints",
        over=Scale("daly", "work between checkpoints", SHORTEST, LONGEST, log=True),
        shows=Scale("goodput", "goodput", 0.0, 1.0),
        x=INTERVALS,
        lines=(
            Line("higher", "Daly's model", result.curves.daly, "compute"),
            Line("first", "first order", result.curves.first, "muted", dashed=True),
        ),
        handle="interval",
        marked=not result.short,
        rules=(best,) if SHORTEST <= result.daly <= LONGEST else (),
        caption="Left of the best point the job saves too often; right of it, too much is lost.",
    )


def straggler_curve(present: Presenter, inputs: Inputs, result: Result) -> Lines:
    """Return the straggler slowdown of a step over the number of GPUs."""
    alike, slowed = (
        tuple(max(0.0, y) for y in column) for column in (result.curves.alike, result.curves.slowed)
    )
    here = result.slow_down - 1
    lines = (
        Line("slowed", "with the slow GPU", slowed, "accent"),
        Line("alike", "all alike", alike, "compute", dashed=True),
    )
    high = max(*result.curves.slowed, here, 0.01) * 1.15
    return present.curve(
        "Time that everybody waits for the slowest, over an average step",
        over=Scale("num_gpus", "GPUs", SIZES[0], SIZES[-1], log=True),
        shows=Scale(SHARE, "added to a step", 0.0, high),
        x=SIZES,
        lines=lines[0 if inputs.slower else 1 :],
        at=max(0.0, here),
        now=present.say("{s}", s=(here, SHARE)),
        caption="The mean of the slowest of n: it grows without end, ever more slowly.",
    )


def slowest_curve(present: Presenter, result: Result) -> Lines:
    """Return the completion probability of a GPU, and of all GPUs, over time."""
    curves = result.curves
    mean = present.say("their mean: {slow_down}")
    return Lines(
        title="Who is done by when",
        x=present.axis(
            "slow_down", "time over an average step", low=curves.ratios[0], high=curves.ratios[-1]
        ),
        y=Axis(label="share of the steps", quantity=SHARE, low=0.0, high=1.0),
        series=(
            Series(key="one", label="one GPU", x=curves.ratios, y=curves.one_gpu, color="compute"),
            Series(key="all", label="all GPUs", x=curves.ratios, y=curves.all, color="accent"),
        ),
        rules=(Rule(key="mean", label=mean, axis="x", at=result.slow_down),),
        caption="A step ends when the last GPU is done: the right curve, not the left one.",
    )


def waiting(present: Presenter, inputs: Inputs, result: Result) -> Bars:
    """Return a step of eight GPUs with a slow first GPU: computing and waiting."""
    times = result.curves.waiting
    last = max(times)
    return Bars(
        title="One step of eight of the GPUs",
        axis=Axis(label="over an average step", quantity=SHARE, low=0.0, high=last * 1.02),
        bars=tuple(
            Bar(
                key=f"gpu{number}",
                label=f"GPU {number}",
                segments=(
                    Segment(key="busy", label="computes", value=time, color="compute"),
                    Segment(key="idle", label="waits", value=last - time, color="muted"),
                ),
            )
            for number, time in enumerate(times, start=1)
        ),
        caption="GPU 1 is the slow one. If one is late, all of them are."
        if inputs.slower
        else "Jitter alone: if one is late, all of them are. Make one of them slower.",
    )


def one_life(present: Presenter, result: Result) -> Lines:
    """Return completed work of a simulated job over time, until its 16th failure."""
    times, work = zip(*result.curves.life, strict=True)
    end = times[-1]

    def straight(key: str, label: str, last: float, color: str) -> Series:
        return Series(key=key, label=label, x=(0.0, end), y=(0.0, last), color=color, dashed=True)

    return Lines(
        title="The life of a job: work done, and lost with every failure",
        x=present.axis("wall_time", "time", low=0.0, high=end),
        y=present.axis("steps", "work", low=0.0, high=end),
        series=(
            straight("ideal", "nothing fails", end, "muted"),
            straight("mean", "mean of all lives", end * result.goodput, "ink"),
            Series(key="life", label="this life", x=times, y=work, color="compute"),
        ),
        caption="Failures by a seeded sequence; roll the dice again for another run.",
    )


TITLE = "Job time"
QUESTION = "When will it be done, really, and what does it cost?"
HEADLINE = "wall_time"
EQUATIONS = (
    run.RUN_TIME,
    goodput.GOODPUT,
    run.GPU_HOURS,
    run.COST,
    run.ENERGY,
    run.WORK_TIME,
    run.TOKEN_RATE,
    run.UTILIZATION,
    goodput.JOB_MTBF,
    goodput.FIRST_ORDER_GOODPUT,
    goodput.YOUNG_INTERVAL,
    goodput.DALY_INTERVAL,
    stragglers.SLOWEST_WITH_SLOW,
    stragglers.LARGEST_POSSIBLE,
    stragglers.ALL_BELOW,
    stragglers.SLOW_DOWN_COST,
)

RUNS = {"wall_time": terms, "gpu_hours": terms, "work_time": steps_alone}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs, equations=EQUATIONS)
    return {
        **outcome_values(present, inputs, result),
        "verdict": _verdict(present, result),
        "formula": present.formula("All of it in one line", run.RUN_TIME, m="slow_factor"),
        "waterfall": partial(waterfall, present, result),
        **speed_value(present, inputs, result),
        "goodput_curve": partial(goodput_curve, present, inputs, result),
        **failure_values(present, inputs, result),
        "life": partial(one_life, present, result),
        "straggler_curve": partial(straggler_curve, present, inputs, result),
        **straggler_values(present, inputs, result),
        "waiting": partial(waiting, present, inputs, result),
        "slowest_curve": partial(slowest_curve, present, result),
    }


def _verdict(present: Presenter, result: Result) -> Badge:
    """Return the largest loss of time beyond the steps themselves."""
    if not math.isfinite(result.wall_time):
        return Badge(
            text="Never done",
            sentence=present.say(
                "Something fails every {mtbf}, before the next checkpoint is reached."
            ),
            color="ink",
        )
    if result.short:
        return Badge(
            text="Short",
            sentence=present.say(
                "The run is over before the first checkpoint is due; that anything fails in it has "
                "a chance of {chance}."
            ),
            color="ink",
        )
    parts = {
        "Waiting": ("waiting", "waiting for the slow GPU"),
        "Checkpoints": ("checkpoints", "writing checkpoints"),
        "Lost work": ("redone", "work done again after failures"),
        "Restarts": ("restarts", "restarts"),
    }
    name = max(parts, key=lambda part: float(getattr(result, parts[part][0])))
    field, cause = parts[name]
    return Badge(
        text=name,
        sentence=present.say(
            f"Beyond its steps the run spends most on {cause}: {{t}}, {{s}} of the whole.",
            t=field,
            s=(getattr(result, field) / result.wall_time, SHARE),
        ),
        color="ink",
    )
