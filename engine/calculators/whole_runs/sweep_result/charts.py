"""The list of jobs, the verdict on one, its frontier, and what differs in the others."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from engine.calculators.whole_runs.sweep_result.inputs import Inputs, Result
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core.text import Text, literal, say, words
from engine.core.units import BYTES, COUNT, HOUR, MONEY, RATIO, SECONDS
from engine.core.views import Axis, Badge, Cell, Lines, Open, Point, Series, Table
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


def named(one: SweptJob) -> Text:
    """Return a job in words."""
    return say(f"{_job(one)}, {{s}} tokens", s=(float(one.sequence_length), COUNT))


def _job(one: SweptJob) -> str:
    """Return model and cluster as the reader wrote them, for a template."""
    return literal(f"{one.model}, {one.cluster}")


def best(result: Result) -> Badge:
    """Return the chosen job and its best plan."""
    one = result.chosen
    if one is None:
        return Badge(text="No job", sentence="No job of the table holds these words.")
    told = f"Job {result.place}: {_job(one)}, {{s}} tokens. "
    told += f"{literal(one.plan)}." if one.plan else "No plan of this job fits."
    sentence = say(told, s=(float(one.sequence_length), COUNT))
    if not one.plan:
        return Badge(text="Nothing fits", sentence=sentence, color="communication")
    return Badge(text="Best plan", sentence=sentence, color="compute")


def jobs(result: Result) -> Table:
    """Return the jobs, each with its best plan; its name asks the planner again."""
    shown = result.jobs[:SHOWN]
    prices = sorted({price for one in shown for price, _ in one.costs})[:_PRICES]
    rows = tuple(_row(number, one, prices) for number, one in enumerate(shown, start=1))
    rest = len(result.jobs) - len(shown)
    told = '{rest} more: fewer are left with a word in "Only jobs with". ' if rest else ""
    told += "The name of a job opens the planner with it. The planner's page has nodes of 8 GPUs "
    told += "with a port each; a job with others, or with a model of its own, does not open there."
    costs = (f"Cost at {price * HOUR:g} per GPU-hour" for price in prices)
    return Table(
        title="The best plan of every job",
        columns=("", "Job", "Best plan", "Step", "Fullest GPU", "Whole run", *costs),
        rows=rows,
        caption=say(told, rest=(float(rest), COUNT)) if rest else told,
    )


def _row(number: int, one: SweptJob, prices: list[float]) -> tuple[Cell, ...]:
    query = query_of(one)
    name: Cell = Open(words(named(one)), "planner", query, page=_PAGE) if query else named(one)
    if not one.plan:
        return (f"{number}", name, "none fits", *[""] * (3 + len(prices)))
    costs = dict(one.costs)
    return (
        f"{number}",
        name,
        one.plan,
        say(
            "{t} ({low} to {high})",
            t=(one.step, SECONDS),
            low=(one.low, SECONDS),
            high=(one.high, SECONDS),
        ),
        say("{m}", m=(one.memory, BYTES)),
        say("{t}", t=(one.time, SECONDS)),
        *(say("{c}", c=(costs[price], MONEY)) if price in costs else "" for price in prices),
    )


def query_of(one: SweptJob) -> str:
    """Return the address of the planner with a job and its best plan; nothing if it has no such."""
    model = next((key for key, known in MODELS.items() if known.name == one.model), "")
    gpu = next((key for key, known in ACCELERATORS.items() if known.name == one.gpu), "")
    nodes = {one.settings.get(name) for name in ("gpus_per_node", "nics_per_node")}
    if not model or not gpu or nodes != {str(NODE)}:
        return ""
    machines = {
        name: one.settings.get(name, "") for name in ("nic_bandwidth", "tokens", "kept_free")
    }
    asked = {
        "model": model,
        "gpu": gpu,
        "world_size": str(one.world_size),
        "sequence_length": str(one.sequence_length),
        "global_batch_size": str(one.global_batch_size),
        "price": repr(one.costs[0][0]),
        **{name: text for name, text in machines.items() if text},
        **_own(one),
    }
    return "&".join(f"planner.{name}={quote(text)}" for name, text in asked.items())


def _own(one: SweptJob) -> dict[str, str]:
    """Return the best plan as the reader's own; nothing where a field has no such choice."""
    found = {name: one.settings.get(column, "") for column, (name, _) in _OWN.items()}
    allowed = {name: kind.__metadata__[0].options for name, kind in _OWN.values()}
    return found if all(text in allowed[name] for name, text in found.items()) else {}


def frontier(inputs: Inputs, result: Result) -> Lines:
    """Return step against cost or GPUs, of jobs that train the same as the chosen one."""
    one = result.chosen
    alike, points, by_cost = result.alike, result.points, inputs.against == "cost"
    x, y = zip(*result.front, strict=True) if points else ((), ())
    across, up = ([pair[i] for pair in points] or [1.0] for i in (0, 1))
    label = "cost of the run, at the lowest price" if by_cost else "GPUs"
    words = "The line joins the jobs that no other beats in both. "
    if one:
        words += (
            f"Only jobs that train {literal(one.model)} with sequences of {{s}} tokens and "
            "batches of {b}."
        )
    words += _long_names(alike, one)
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
            _point(job, at, one, len(alike)) for job, at in zip(alike, points, strict=True)
        ),
        caption=say(
            words, s=(float(one.sequence_length), COUNT), b=(float(one.global_batch_size), COUNT)
        )
        if one
        else words,
    )


def _point(
    job: tuple[int, SweptJob], at: tuple[float, float], chosen: SweptJob | None, count: int
) -> Point:
    number, one = job
    mine = one is chosen
    label = _label(number, one) if mine or count <= _LABELLED else ""
    return Point(
        key=f"{one.cluster}",
        label=label,
        x=at[0],
        y=at[1],
        color="accent" if mine else "compute",
    )


def _label(number: int, one: SweptJob) -> str:
    """Return a point's name: that of the cluster, or the job's number where that one is long."""
    return one.cluster if len(one.cluster) <= _LONGEST else f"job {number}"


def _long_names(jobs: tuple[tuple[int, SweptJob], ...], chosen: SweptJob | None) -> str:
    """Return which clusters the labels that are numbers mean."""
    told = (
        f"Job {number} has {literal(one.cluster)}."
        for number, one in jobs
        if len(one.cluster) > _LONGEST and (one is chosen or len(jobs) <= _LABELLED)
    )
    return "".join(f" {sentence}" for sentence in told)


def changes(result: Result) -> Table:
    """Return what is otherwise in the best plans of the other jobs."""
    one = result.chosen
    if one is None or not one.plan:
        return Table(title="", columns=(), rows=())
    rows = tuple(
        (
            f"{number}",
            named(other),
            say("{r}", r=(other.step / one.step, RATIO)),
            say("{r}", r=(other.rate / one.rate, RATIO)),
            otherwise(one.plan, other.plan),
        )
        for number, other in enumerate(result.jobs[:SHOWN], start=1)
        if other is not one and other.plan
    )
    return Table(
        title=f"Against job {result.place}",
        columns=("", "Job", "Its step", "Tokens per GPU", "Its plan"),
        rows=rows,
        caption="Step and tokens per second of a GPU are multiples of those of the chosen job.",
    )


def otherwise(plan: str, other: str) -> str:
    """Return in words what a plan has otherwise: "TP 8, DP 2 instead of TP 4, DP 4"."""
    mine, theirs = (text.replace(" × ", ", ").split(", ") for text in (plan, other))
    new = [part for part in theirs if part not in mine]
    gone = [part for part in mine if part not in theirs]
    if not new and not gone:
        return "the same"
    if not gone:
        return f"also {', '.join(new)}"
    return f"{', '.join(new)} instead of {', '.join(gone)}" if new else f"no {', '.join(gone)}"
