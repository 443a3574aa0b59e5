"""Published runs: names, groups, and inputs of an estimate."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import exp, expm1

from engine.catalog.planned_runs import PlanRank, plan_ranks
from engine.catalog.published_runs import SOURCES
from engine.catalog.reported_runs import REPORTED
from engine.catalog.unseen_runs import ROUNDED, unseen_log_pairs, unseen_logs
from engine.core.lazy import Lazy
from engine.core.record import record
from engine.core.text import Sentence, Text, render_text, say
from engine.core.units import BYTES, COUNT, RATIO, SECONDS, Bytes, Count, Ratio, Seconds, Share
from engine.core.views import Badge
from engine.form.planner.plan_text import plan_name, reason_text
from engine.form.run.form_values import estimate_query, inputs_of
from engine.form.run.inputs import Inputs
from engine.form.run.nearest_valid import nearest_run
from engine.form.run.result import run_estimate
from engine.formulas.parameters import total_parameters
from engine.run.plan_difference import apply_plan_difference
from engine.run.published import PublishedRun
from engine.run.run import Run
from engine.simulate.numerics.error_spread import ErrorSpread, median, summarize_errors
from engine.simulate.planner.evaluate import Candidate, run_candidate
from engine.simulate.planner.ranked import job_of_run, with_layer_cut, with_room_for
from engine.simulate.planner.why import Reason, why_not
from engine.simulate.step.published_runs import PredictedRun, predictions
from engine.simulate.step.step_range import PredictionSpread as Range
from engine.simulate.step.step_range import prediction_spread as range_of

_FAMILIES = ("GB200", "GB300", "B200", "B300", "A100", "H100")
_SIZE = {
    "gpus": "world_size",
    "tensor": "tensor_parallel",
    "pipeline": "pipeline_parallel",
    "sequence": "sequence_length",
    "batch": "micro_batch_size",
}


# There is one object for each run, which keeps what it has told once.
@dataclass(frozen=True, kw_only=True, eq=False)
class Published:
    """A published run.

    Attributes:
        name: of the model.
        family: the type of GPU.
        inputs: the inputs of `estimate_run` that give this run.
        prediction: what was measured, and what is predicted.
    """

    name: str
    family: str
    inputs: Inputs
    prediction: PredictedRun

    @cached_property
    def case(self) -> PublishedRun:
        """The run with its measurements."""
        return self.prediction.case

    @cached_property
    def key(self) -> str:
        """Of the row in the table of published runs."""
        return self.case.row["row_id"]

    @cached_property
    def source(self) -> int:
        """Index of its source."""
        return tuple(SOURCES).index(self.case.row["source_file"])

    @cached_property
    def cited(self) -> tuple[str, str]:
        """The key of the bibliography and the name of its source."""
        return SOURCES[self.case.row["source_file"]]

    @cached_property
    def measured(self) -> Seconds:
        """Of a step."""
        return self.case.time

    @cached_property
    def predicted(self) -> Seconds:
        """Of a step."""
        return self.prediction.time

    @cached_property
    def error(self) -> Ratio:
        """Predicted over measured, minus 1."""
        return self.prediction.error

    @cached_property
    def memory(self) -> tuple[Bytes, ...]:
        """Measured and predicted peak; empty where none was published."""
        measured, predicted = self.case.held, self.prediction.memory
        return () if measured is None or predicted is None else (measured, predicted)

    @cached_property
    def kind(self) -> str:
        """Whether the model has experts."""
        return "mixture" if self.case.moe else "dense"

    @cached_property
    def world_size(self) -> Count:
        """All GPUs."""
        return self.inputs.world_size


@cache
def published() -> tuple[Published, ...]:
    """Return all runs."""
    return tuple(
        Published(
            name=_name(prediction.case),
            family=_family(prediction.case.run.cluster.gpu.name),
            inputs=inputs_of(prediction.case.run),
            prediction=prediction,
        )
        for prediction in predictions()
    )


def _name(case: PublishedRun) -> str:
    """Return the model's normalized name without remarks, and a cut model's layers."""
    if "layer-cut" in case.row["model"]:  # one name would stand for six sizes
        return f"{case.row['model'].partition(' (')[0]}, {case.run.model.num_layers} layers"
    name = re.sub(r"\s*\(.*\)", "", case.row["model"]).replace("GPT/BLOOM", "BLOOM-like")
    name = re.sub(r"^(?:LLAMA|Llama-?|llama)\s?(\d)", r"Llama \1", name).replace("GPT3", "GPT-3")
    name = re.sub(r"^(Llama [\d.]+)-(\d+[Bb])", r"\1 \2", name).replace("70b", "70B")
    name = name.replace("mpt-", "MPT-").replace(" class", "")
    if name == "GPT":
        return f"GPT {total_parameters(case.run.model) / 1e9:.1f}B"
    if name.startswith("MPT"):
        return name[:-1] + name[-1].upper()
    if name.startswith("Llama 3 70B "):
        return name.replace("70B ", "70B, ")
    name = name.replace("deepseekv2 ", "DeepSeek-V2, ")
    return re.sub(r"^(GPT-3)-", r"\1 ", name)


def _family(gpu: str) -> str:
    return next(family for family in _FAMILIES if gpu.startswith(family))


@cache
def group_of(row: Published, by: str) -> str:
    """Return the group of a run: its source, GPU, precision, or a size down to a power of two."""
    if by == "source":
        return row.cited[1] + (" (mixtures)" if row.case.moe else "")
    if by == "gpu":
        return row.family
    if by == "board":
        return "B200/300" if row.family in ("B200", "B300") else row.family
    if by == "precision":
        return row.inputs.precision
    return str(1 << (int(getattr(row.inputs, _SIZE[by])).bit_length() - 1))


def split(rows: Sequence[Published], by: str) -> dict[str, list[Published]]:
    """Return the runs of each group, groups in the order of their sizes or names."""
    parts: dict[str, list[Published]] = {}
    for row in rows:
        parts.setdefault(group_of(row, by), []).append(row)
    return {name: parts[name] for name in sorted(parts, key=_order)}


def _order(name: str) -> tuple[int, str]:
    return int(name) if name.isdigit() else 0, name.lower()


def named(rows: Sequence[Published]) -> tuple[str, ...]:
    """Return the bibliography's keys of the sources of the rows, each once."""
    return tuple(dict.fromkeys(row.cited[0] for row in rows))


def query_of(row: Published) -> str:
    """Return the query string of this run in `estimate_run`."""
    return estimate_query(row.inputs)


# Held-out errors of published runs by class, and hit rates of the range.

_KINDS = {"dense": "dense", "mixture": "mixtures"}
_SOFTWARE = {"megatron": "Megatron", "fsdp": "FSDP", "deepspeed": "DeepSpeed", "xla": "XLA"}


@record
class Class:
    """Runs of a class, their held-out error statistics, and hits of the range.

    Attributes:
        name: of the class.
        runs: of it.
        errors: with constants fitted without the source of each.
        inside: the range, of those runs.
        inside_model: likewise, with constants fitted without the model of each.
    """

    name: str
    runs: Count
    errors: ErrorSpread
    inside: Share
    inside_model: Share


def _software(row: Published) -> str:
    training = row.case.run.training
    return ("" if training.compiled else "eager ") + _SOFTWARE[training.framework]


def _scale(row: Published) -> str:
    low = 8
    while low * 4 <= row.world_size:
        low *= 4
    return f"{low:,} to {low * 4 - 1:,} GPUs"


DIVISIONS: Mapping[str, str] = {
    "gpu": "type of GPU",
    "precision": "precision",
    "software": "software",
    "scale": "number of GPUs",
    "source": "source",
}
_CLASS: Mapping[str, Callable[[Published], str]] = {
    "gpu": lambda row: row.family,
    "precision": lambda row: row.inputs.precision,
    "software": _software,
    "scale": _scale,
    "source": lambda row: row.cited[1],
}


def _sort_key(name: str) -> tuple[int, str]:
    """Return the sort key of a class: first number of a range, else its letters."""
    first = name.split()[0].replace(",", "")
    return int(first) if first.isdigit() else 0, name.lower()


@cache
def unseen_error(row: Published) -> Ratio:
    """Return the error of a run with constants fitted without its source."""
    return expm1(unseen_logs()[row.key])


@cache
def range_hits(row: Published) -> tuple[bool, bool]:
    """Return whether the measured step lies in the range of held-out predictions.

    Without the source, and without the model.
    """
    predicted_range = range_of(row.case.run)
    source, model = (exp(-log) for log in unseen_log_pairs()[row.key])
    return _in_range(predicted_range, source), _in_range(predicted_range, model)


def _in_range(predicted_range: Range, ratio: Ratio) -> bool:
    """Return whether a share of the predicted step lies in a range, but for its rounding."""
    return predicted_range.low - ROUNDED <= ratio <= predicted_range.high + ROUNDED


def classes(runs: Sequence[Published], division: str) -> tuple[Class, ...]:
    """Return the nonempty classes of the runs, after a class of all runs of a kind."""
    groups = []
    for kind, words in _KINDS.items():
        of = [row for row in runs if row.kind == kind]
        parts: dict[str, list[Published]] = {}
        for row in of:
            parts.setdefault(_CLASS[division](row), []).append(row)
        if of:
            groups.append(_class(f"{words}, all", of))
        groups += [_class(f"{words}, {name}", parts[name]) for name in sorted(parts, key=_sort_key)]
    return tuple(groups)


def _class(name: str, runs: Sequence[Published]) -> Class:
    held_by_source, held_by_model = zip(*map(range_hits, runs), strict=True)
    return Class(
        name=name,
        runs=len(runs),
        errors=summarize_errors([unseen_error(row) for row in runs]),
        inside=sum(held_by_source) / len(runs),
        inside_model=sum(held_by_model) / len(runs),
    )


# Error statistics of published runs by group, and brackets of famous runs.


@record
class Group:
    """A group of runs and their error statistics."""

    name: str
    runs: Sequence[Published]
    errors: ErrorSpread


@record
class Bracket:
    """Prediction of a famous run, with its range."""

    value: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Return whether a value lies in the range."""
        return self.low <= value <= self.high


def groups(rows: Sequence[Published], by: str) -> tuple[Group, ...]:
    """Return the errors of the step time of each group."""
    return tuple(
        Group(name=name, runs=runs, errors=summarize_errors([row.error for row in runs]))
        for name, runs in split(rows, by).items()
    )


def memory_groups(runs: Sequence[Published]) -> tuple[Group, ...]:
    """Return the errors of the peak of memory of each source."""
    return tuple(
        Group(name=name, runs=runs, errors=summarize_errors([memory_error(row) for row in runs]))
        for name, runs in split(runs, "source").items()
    )


def memory_error(row: Published) -> Ratio:
    """Return the error of a run's peak memory."""
    return row.memory[1] / row.memory[0] - 1


def plan_errors(rows: Sequence[Published]) -> Mapping[tuple[str, str], Ratio]:
    """Return the mean absolute error for each pair of tensor and pipeline parallelism."""
    errors: dict[tuple[str, str], list[Ratio]] = {}
    for row in rows:
        key = group_of(row, "tensor"), group_of(row, "pipeline")
        errors.setdefault(key, []).append(row.error)
    return {key: summarize_errors(errors).mean for key, errors in errors.items()}


@cache
def brackets() -> Mapping[str, Bracket]:
    """Return the predictions of famous runs; a rate or MFU is inverse to the step."""
    intervals = {}
    for name, report in REPORTED.items():
        step = run_estimate(nearest_run(Inputs(**report.settings))[0])  # type: ignore[arg-type]
        value = float(getattr(step, report.figure))
        ends = ("step_time_low", "step_time_high")
        low, high = (step.estimate[end] / step.step_time for end in ends)
        if report.figure != "step_time":
            low, high = 1 / high, 1 / low
        intervals[name] = Bracket(value=value, low=value * low, high=value * high)
    return intervals


# Published plans against the planner's best: rank, ratio and reason.


def plan_rank(row: Published) -> PlanRank:
    """Return the rank of a run's plan among the planner's candidates."""
    return plan_ranks()[row.key]


def rank_cell(row: Published) -> Text:
    """Return a table cell: the plan's rank, and its step over the best plan's."""
    rank = plan_rank(row)
    return say("{n}; {r}", n=(float(rank.rank), COUNT), r=(rank.slower, RATIO))


def median_ratio(rows: Sequence[Published]) -> Ratio:
    """Return the median of the steps over those of the best plans; 0 of no runs."""
    return median([plan_rank(row).slower for row in rows]) if rows else 0.0


@record
class Against:
    """A published plan and the planner's best, each as a run and as the planner sees it.

    Attributes:
        standing: its rank, and the best plan.
        run, published: it.
        best, rival: the best plan.
        why: what speaks against it.
    """

    standing: PlanRank
    run: Run
    published: Candidate
    best: Run
    rival: Candidate
    why: Reason


def compare_plans(row: Published) -> Against:
    """Return the comparison of a run's plan with the planner's best."""
    run, rank = with_layer_cut(row.case.run), plan_rank(row)
    best = apply_plan_difference(run, rank.best)
    rival = run_candidate(best)
    return Against(
        standing=rank,
        run=run,
        published=run_candidate(run),
        best=best,
        rival=rival,
        why=why_not(with_room_for(job_of_run(run), run), run, rival),
    )


def verdict(comparison: Lazy[Against] | None) -> Badge:
    """Return the rank of a run's plan, why it is not the first, and the best plan."""
    if comparison is None:
        return Badge(text="No run", sentence="No run is left to pick.", color="muted")
    plans = comparison()
    run, best, rank, explanation = (
        plans.run,
        plans.best,
        plans.standing.rank,
        reason_text(plans.why),
    )
    numbers = dict(explanation.numbers) if isinstance(explanation, Sentence) else {}
    template = explanation.template if isinstance(explanation, Sentence) else explanation
    named = f"The published plan: {plan_name(run.plan, run.training)}. {template}"
    if rank > 1:
        named += f" The planner's best, {{best_step}}: {plan_name(best.plan, best.training)}."
        numbers["best_step"] = (plans.rival.step, SECONDS)
    if not plans.published.fit.runs:
        named += " By our memory model it needs {beyond} more than a GPU has. It ran, so its "
        named += "rivals may need as much."
        numbers["beyond"] = (plans.published.fit.least - plans.published.fit.device, BYTES)
    return Badge(
        text=render_text(say("Rank {n}", n=(float(rank), COUNT))),
        sentence=Sentence(named, numbers),
        color="compute" if plans.why.verdict in ("best", "tied") else "communication",
    )
