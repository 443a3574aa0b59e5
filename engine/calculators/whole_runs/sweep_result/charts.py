"""Views of a sweep: job list, verdict, frontier, and plan differences."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from engine.calculators.whole_runs.sweep_result.inputs import Inputs, Result
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.text import Text, escape_braces, render_text, say
from engine.core.units import BYTES, COUNT, HOUR, MONEY, RATIO, SECONDS
from engine.core.views import Axis, Badge, CalculatorLink, Cell, Lines, Point, Series, Table
from engine.form.planner.inputs import (
    NODE,
    OwnContext,
    OwnFramework,
    OwnMicroBatch,
    OwnPieces,
    OwnPipeline,
    OwnRecompute,
    OwnTensor,
    OwnZero,
)
from engine.run.sweep_table import SweptJob

SHOWN = 60
_PRICES = 3
_LABELLED = 12
_LONGEST = 16  # characters of a name beside its point: a phone has room for them
_PAGE = "guides/choosing-a-configuration"
# A plan's column -> the planner's input for a plan of the reader's own.
_OWN: Mapping[str, tuple[str, Any]] = {
    "framework": ("own_framework", OwnFramework),
    "tensor_parallel": ("own_tensor", OwnTensor),
    "pipeline_parallel": ("own_pipeline", OwnPipeline),
    "virtual_pipeline": ("own_pieces", OwnPieces),
    "context_parallel": ("own_context", OwnContext),
    "zero_stage": ("own_zero", OwnZero),
    "micro_batch_size": ("own_micro_batch", OwnMicroBatch),
    "recompute": ("own_recompute", OwnRecompute),
}


def job_text(job: SweptJob) -> Text:
    """Return a job in words."""
    return say(f"{_job_label(job)}, {{s}} tokens", s=(float(job.sequence_length), COUNT))


def _job_label(job: SweptJob) -> str:
    """Return model and cluster as written in the table, for a template."""
    return escape_braces(f"{job.model}, {job.cluster}")


def chosen_verdict(result: Result) -> Badge:
    """Return the chosen job and its best plan."""
    job = result.chosen
    if job is None:
        return Badge(text="No job", sentence="No job of the table holds these words.")
    intro = f"Job {result.place}: {_job_label(job)}, {{s}} tokens. "
    intro += f"{escape_braces(job.plan)}." if job.plan else "No plan of this job fits."
    sentence = say(intro, s=(float(job.sequence_length), COUNT))
    if not job.plan:
        return Badge(text="Nothing fits", sentence=sentence, color="communication")
    return Badge(text="Best plan", sentence=sentence, color="compute")


def jobs(result: Result) -> Table:
    """Return the jobs, each with its best plan; its name asks the planner again."""
    shown = result.jobs[:SHOWN]
    prices = sorted({price for job in shown for price, _ in job.costs})[:_PRICES]
    rows = tuple(_row(number, job, prices) for number, job in enumerate(shown, start=1))
    rest = len(result.jobs) - len(shown)
    note = '{rest} more: fewer are left with a word in "Only jobs with". ' if rest else ""
    note += "The name of a job opens the planner with it. The planner's page has nodes of 8 GPUs "
    note += "with a port each; a job with others, or with a model of its own, does not open there."
    costs = (f"Cost at {price * HOUR:g} per GPU-hour" for price in prices)
    return Table(
        title="The best plan of every job",
        columns=("", "Job", "Best plan", "Step", "Fullest GPU", "Whole run", *costs),
        rows=rows,
        caption=say(note, rest=(float(rest), COUNT)) if rest else note,
    )


def _row(number: int, job: SweptJob, prices: list[float]) -> tuple[Cell, ...]:
    query = query_of(job)
    name: Cell = (
        CalculatorLink(render_text(job_text(job)), "planner", query, page=_PAGE)
        if query
        else job_text(job)
    )
    if not job.plan:
        return (f"{number}", name, "none fits", *[""] * (3 + len(prices)))
    costs = dict(job.costs)
    return (
        f"{number}",
        name,
        job.plan,
        say(
            "{t} ({low} to {high})",
            t=(job.step, SECONDS),
            low=(job.low, SECONDS),
            high=(job.high, SECONDS),
        ),
        say("{m}", m=(job.memory, BYTES)),
        say("{t}", t=(job.time, SECONDS)),
        *(say("{c}", c=(costs[price], MONEY)) if price in costs else "" for price in prices),
    )


def query_of(job: SweptJob) -> str:
    """Return the planner's URL for a job and its best plan; empty without a plan."""
    model = next((key for key, known in MODELS.items() if known.name == job.model), "")
    gpu = next((key for key, known in ACCELERATORS.items() if known.name == job.gpu), "")
    nodes = {job.settings.get(name) for name in ("gpus_per_node", "nics_per_node")}
    if not model or not gpu or nodes != {str(NODE)}:
        return ""
    machines = {
        name: job.settings.get(name, "") for name in ("nic_bandwidth", "tokens", "kept_free")
    }
    asked = {
        "model": model,
        "gpu": gpu,
        "world_size": str(job.world_size),
        "sequence_length": str(job.sequence_length),
        "global_batch_size": str(job.global_batch_size),
        "price": repr(job.costs[0][0]),
        **{name: text for name, text in machines.items() if text},
        **_plan_settings(job),
    }
    return "&".join(f"planner.{name}={quote(text)}" for name, text in asked.items())


def _plan_settings(job: SweptJob) -> dict[str, str]:
    """Return the best plan as input settings; empty if a field lacks the choice."""
    settings = {name: job.settings.get(column, "") for column, (name, _) in _OWN.items()}
    allowed = {name: kind.__metadata__[0].options for name, kind in _OWN.values()}
    return settings if all(text in allowed[name] for name, text in settings.items()) else {}


def frontier(inputs: Inputs, result: Result) -> Lines:
    """Return step time over cost or GPUs, of jobs with the chosen job's training."""
    chosen = result.chosen
    alike, points, by_cost = result.alike, result.points, inputs.against == "cost"
    x, y = zip(*result.front, strict=True) if points else ((), ())
    across, up = ([pair[i] for pair in points] or [1.0] for i in (0, 1))
    label = "cost of the run, at the lowest price" if by_cost else "GPUs"
    words = "The line joins the jobs that no other beats in both. "
    if chosen:
        words += (
            f"Only jobs that train {escape_braces(chosen.model)} with sequences of {{s}} tokens "
            "and batches of {b}."
        )
    words += _long_names(alike, chosen)
    return Lines(
        title="Step against cost" if by_cost else "Step against GPUs",
        x=Axis(
            label=label,
            quantity=MONEY if by_cost else COUNT,
            low=0.0,
            high=1.15 * max(across) or 1.0,
        ),
        y=Axis(label="one step", quantity=SECONDS, low=0.0, high=1.15 * max(up) or 1.0),
        series=(Series(key="front", label="", x=tuple(x), y=tuple(y), color="compute"),),
        points=tuple(
            _point(job, at, chosen, len(alike)) for job, at in zip(alike, points, strict=True)
        ),
        caption=say(
            words,
            s=(float(chosen.sequence_length), COUNT),
            b=(float(chosen.global_batch_size), COUNT),
        )
        if chosen
        else words,
    )


def _point(
    numbered: tuple[int, SweptJob], at: tuple[float, float], chosen: SweptJob | None, count: int
) -> Point:
    number, job = numbered
    mine = job is chosen
    label = _label(number, job) if mine or count <= _LABELLED else ""
    return Point(
        key=f"{job.cluster}",
        label=label,
        x=at[0],
        y=at[1],
        color="accent" if mine else "compute",
    )


def _label(number: int, job: SweptJob) -> str:
    """Return a point's label: the cluster, or the job's number if that name is long."""
    return job.cluster if len(job.cluster) <= _LONGEST else f"job {number}"


def _long_names(jobs: tuple[tuple[int, SweptJob], ...], chosen: SweptJob | None) -> str:
    """Return the legend of the numbered clusters."""
    legend = (
        f"Job {number} has {escape_braces(job.cluster)}."
        for number, job in jobs
        if len(job.cluster) > _LONGEST and (job is chosen or len(jobs) <= _LABELLED)
    )
    return "".join(f" {sentence}" for sentence in legend)


def changes(result: Result) -> Table:
    """Return differences of the other jobs' best plans."""
    chosen = result.chosen
    if chosen is None or not chosen.plan:
        return Table(title="", columns=(), rows=())
    rows = tuple(
        (
            f"{number}",
            job_text(other),
            say("{r}", r=(other.step / chosen.step, RATIO)),
            say("{r}", r=(other.rate / chosen.rate, RATIO)),
            plan_difference(chosen.plan, other.plan),
        )
        for number, other in enumerate(result.jobs[:SHOWN], start=1)
        if other is not chosen and other.plan
    )
    return Table(
        title=f"Against job {result.place}",
        columns=("", "Job", "Its step", "Tokens per GPU", "Its plan"),
        rows=rows,
        caption="Step and tokens per second of a GPU are multiples of those of the chosen job.",
    )


def plan_difference(plan: str, other: str) -> str:
    """Return the difference of two plans: "TP 8, DP 2 instead of TP 4, DP 4"."""
    mine, theirs = (text.replace(" × ", ", ").split(", ") for text in (plan, other))
    new = [part for part in theirs if part not in mine]
    gone = [part for part in mine if part not in theirs]
    if not new and not gone:
        return "the same"
    if not gone:
        return f"also {', '.join(new)}"
    return f"{', '.join(new)} instead of {', '.join(gone)}" if new else f"no {', '.join(gone)}"
