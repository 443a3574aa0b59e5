"""Sweep results: the best plan of every job, their frontier, and differences."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from math import nan
from typing import Annotated, Any
from urllib.parse import quote

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.core import text
from engine.core.inputs import Choice, Compact, Number, Sample, Scalar, Text
from engine.core.outputs import Output, Presenter, Views
from engine.core.text import escape_braces, render_text, say
from engine.core.units import (
    BYTES,
    COUNT,
    HOUR,
    MONEY,
    RATIO,
    SECONDS,
    Bytes,
    Count,
    Money,
    Seconds,
    TokenRate,
)
from engine.core.views import Axis, Badge, CalculatorLink, Cell, Lines, Point, Series, Table, Value
from engine.draw.csv import csv_rows
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
from engine.form.sweep_sample import TEXT
from engine.form.text_validation import text_check
from engine.run.sweep_table import (
    LONGEST_SWEEP,
    MOST_ROWS,
    SweptJob,
    filter_jobs,
    pareto_front,
    read_sweep,
    sort_jobs,
)

_ROWS = (line.split("\t") for line in TEXT.splitlines())
SAMPLES: Mapping[str, Sample] = {
    "llama": Sample(
        title="Llama 3 8B and 70B on six clusters", text=csv_rows(_ROWS).replace("\r\n", "\n")
    )
}
_LONGEST_WORDS = 100
PRESETS: Mapping[str, Mapping[str, Scalar]] = {
    "The 70B model alone": {"only": "70b", "order": "cost"},
    "What half the network changes": {"only": "256 h100 70b", "row": 1},
}
_COUNTED = ("Rows of one job at several prices count once.",)
_PREDICTED = ("As the planner predicted it when the sweep ran.",)


@lru_cache(maxsize=4)
def parse_sweep(text: str) -> tuple[SweptJob, ...]:
    """Return the jobs, read once for the check under the box and for the results."""
    return read_sweep(text)


def split_words(text: str) -> list[str]:
    """Return the words of a text, or raise if it is too long."""
    if len(text) > _LONGEST_WORDS:
        raise ValueError(f"{len(text):,} characters; at most {_LONGEST_WORDS} are read")
    return text.split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The calculator's inputs."""

    table: Annotated[
        str,
        Text(
            label="Your table",
            longest=LONGEST_SWEEP,
            samples=SAMPLES,
            rows=6,
            files=".csv,.tsv,.parquet",
            placeholder="Paste the CSV of a sweep, or choose its CSV or Parquet file",
            help="Parquet is read here, in your browser, and stands in the box as CSV.",
            check=text_check(parse_sweep),
        ),
    ] = SAMPLES["llama"].text
    only: Annotated[
        str,
        Compact(
            label="Only jobs with",
            parse=split_words,
            description="words of a model, a cluster or a plan, or nothing",
            example="70b h100",
            help="Every word has to occur: 70b, 256, A100, 32768, FSDP.",
        ),
    ] = ""
    order: Annotated[
        str,
        Choice(
            label="Order",
            options={
                "table": "as in the table",
                "time": "shortest run first",
                "cost": "cheapest first",
                "rate": "most tokens per GPU first",
                "gpus": "fewest GPUs first",
            },
        ),
    ] = "table"
    against: Annotated[
        str, Choice(label="Step against", options={"cost": "the cost of the run", "gpus": "GPUs"})
    ] = "cost"
    row: Annotated[
        int,
        Number(
            label="Job to compare with",
            low=1,
            high=MOST_ROWS,
            whole=True,
            help="By its number in the list.",
        ),
    ] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Numbers of the sweep's table; zero if no job is left, or no plan fits.

    Attributes:
        jobs: that the filter leaves, in their order.
        all_jobs: how many there are.
        fitting: of those left, how many have a plan.
        place: of the chosen job in the list, from 1.
        chosen: the job to compare with; None where none is left.
        alike: jobs with a plan that train the same, with their places.
        points: cost or GPUs, and the step, of each of them.
        front: of these, those that no other beats in both.
        low, high: range of its step.
    """

    jobs: tuple[SweptJob, ...]
    all_jobs: Count
    fitting: Count
    place: Count
    chosen: SweptJob | None
    alike: tuple[tuple[Count, SweptJob], ...]
    points: tuple[tuple[float, Seconds], ...]
    front: tuple[tuple[float, Seconds], ...]
    num_jobs: Annotated[
        Count,
        Output("Jobs", note="of {all_jobs} in the table", basis="definition", assumes=_COUNTED),
    ]
    step: Annotated[Seconds, Output("Step", "", "{low} to {high}", "compute", _PREDICTED)]
    low: Seconds
    high: Seconds
    rate: Annotated[
        TokenRate, Output("Tokens per second of a GPU", color="compute", assumes=_PREDICTED)
    ]
    held: Annotated[Bytes, Output("GPU that holds most", color="memory", assumes=_PREDICTED)]
    time: Annotated[
        Seconds, Output("The whole run", note="if nothing fails", color="ink", assumes=_PREDICTED)
    ]
    cost: Annotated[
        Money, Output("It costs", note="at the lowest price", color="ink", assumes=_PREDICTED)
    ]


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


def job_text(job: SweptJob) -> text.Text:
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
    hidden = len(result.jobs) - len(shown)
    note = '{rest} more: fewer are left with a word in "Only jobs with". ' if hidden else ""
    note += "The name of a job opens the planner with it. The planner's page has nodes of 8 GPUs "
    note += "with a port each; a job with others, or with a model of its own, does not open there."
    costs = (f"Cost at {price * HOUR:g} per GPU-hour" for price in prices)
    return Table(
        title="The best plan of every job",
        columns=("", "Job", "Best plan", "Step", "GPU that holds most", "Whole run", *costs),
        rows=rows,
        caption=say(note, rest=(float(hidden), COUNT)) if hidden else note,
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
    values = {
        "model": model,
        "gpu": gpu,
        "world_size": str(job.world_size),
        "sequence_length": str(job.sequence_length),
        "global_batch_size": str(job.global_batch_size),
        "price": repr(job.costs[0][0]),
        **{name: text for name, text in machines.items() if text},
        **_plan_settings(job),
    }
    return "&".join(f"planner.{name}={quote(text)}" for name, text in values.items())


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


TITLE = "Read my sweep"
QUESTION = "Which of many jobs is fast or cheap enough, and what changes from one to another?"
HEADLINE = "time"
EQUATIONS = ()


def solve(inputs: Inputs) -> Result:
    """Return the remaining jobs, sorted, and the numbers of the chosen job."""
    every = parse_sweep(inputs.table)
    left = sort_jobs(filter_jobs(every, inputs.only), inputs.order)
    row = min(inputs.row, len(left))
    chosen = left[row - 1] if left else None
    numbered = enumerate(left, start=1)
    alike = tuple(
        (number, job) for number, job in numbered if chosen and _same_training(job, chosen)
    )
    x = [job.cost if inputs.against == "cost" else float(job.world_size) for _, job in alike]
    points = tuple(zip(x, (job.step for _, job in alike), strict=True))
    return Result(
        jobs=tuple(left),
        all_jobs=len(every),
        fitting=sum(bool(job.plan) for job in left),
        place=row,
        chosen=chosen,
        alike=alike,
        points=points,
        front=tuple(pareto_front(points)),
        num_jobs=len(left),
        step=chosen.step if chosen else 0.0,
        low=chosen.low if chosen else 0.0,
        high=chosen.high if chosen else 0.0,
        rate=chosen.rate if chosen else 0.0,
        held=chosen.memory if chosen else 0.0,
        time=chosen.time if chosen else 0.0,
        cost=chosen.cost if chosen else 0.0,
    )


def _same_training(job: SweptJob, other: SweptJob) -> bool:
    """Return whether a job has a plan, and the same training as another."""
    names = ("model", "sequence_length", "global_batch_size")
    same = all(getattr(job, name) == getattr(other, name) for name in names)
    return bool(job.plan) and same and job.settings.get("tokens") == other.settings.get("tokens")


def _chosen_values(present: Presenter, result: Result) -> dict[str, Value]:
    """Return the chosen job's values, or the reason why it has none."""
    names = "step", "time", "cost", "rate", "held"
    if result.chosen and result.chosen.plan:
        return present.values(*names)
    why = "no plan fits" if result.chosen else "no job matches"
    return {name: present.value(name, value=nan, note=why) for name in names}


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    return {
        "best": chosen_verdict(result),
        **_chosen_values(present, result),
        **present.values("num_jobs"),
        "jobs": partial(jobs, result),
        "frontier": partial(frontier, inputs, result),
        "changes": partial(changes, result),
    }
