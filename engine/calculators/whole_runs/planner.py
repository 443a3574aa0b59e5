"""Planner: the best plans of a job, and why not another."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from engine.catalog.reported_runs import REPORTED, ReportedRun
from engine.core.outputs import Presenter, Views
from engine.core.slices import Slices, run_to_end
from engine.core.text import say
from engine.core.units import SECONDS, TOKEN_RATE
from engine.core.views import Cell, Citation, Code, Table
from engine.form.planner import pictures
from engine.form.planner.answer import Answer, answer
from engine.form.planner.inputs import PRESETS as PRESETS
from engine.form.planner.inputs import Inputs as Inputs
from engine.form.run.prediction_text import value_with_range
from engine.run.exporters.fully_sharded import torchtitan_toml
from engine.run.exporters.megatron import megatron_arguments

_KEYS = ("model", "world_size", "sequence_length", "global_batch_size")
_COLUMNS = ("Plan", "Step", "Tokens per second of a GPU", "Source")


def reported_of(inputs: Inputs) -> ReportedRun | None:
    """Return the published report of the job, if its plan equals the configured plan."""
    for report in REPORTED.values():
        same = all(report.settings.get(key) == getattr(inputs, key) for key in _KEYS)
        plan = (
            str(report.settings.get("tensor_parallel")) == inputs.own_tensor
            and str(report.settings.get("pipeline_parallel")) == inputs.own_pipeline
            and report.settings.get("framework", "megatron") == inputs.own_framework
        )
        if same and plan and report.settings.get("gpu") == inputs.gpu:
            return report
    return None


def published_comparison(inputs: Inputs, answer: Answer) -> Table:
    """Return published and predicted figures; empty for an unpublished job."""
    report = reported_of(inputs)
    if report is None or not answer.why.plan or not answer.best:
        return Table(title="", columns=(), rows=())
    tokens = inputs.global_batch_size * inputs.sequence_length / answer.job.world_size
    steps = {"The published plan, predicted": answer.own_step, "The planner's best": answer.step}
    rows: list[tuple[Cell, ...]] = [
        (name, say("{t}", t=(step, SECONDS)), say("{r}", r=(tokens / step, TOKEN_RATE)), "")
        for name, step in steps.items()
    ]
    measured = tokens / report.value if report.figure == "token_rate" else report.value
    published = (
        "Published",
        say("{t}", t=(measured, SECONDS)),
        say("{r}", r=(tokens / measured, TOKEN_RATE)),
        Citation((report.source,)),
    )
    return Table(
        title="Published of this job",
        columns=_COLUMNS,
        rows=(published, *rows),
        caption=report.said,
    )


TITLE = "The planner"
QUESTION = "Which plan is the fastest for my model on my GPUs, and why not another?"
HEADLINE = "step"
EQUATIONS = ()
SMALL = {"world_size": 8}
_NOT_RUN: Mapping[str, str] = {
    "impossible": "nothing runs this plan",
    "too large": "it does not fit",
}


def search(inputs: Inputs) -> Slices[Answer]:
    """Find every number of the page."""
    return answer(inputs)


def solve(inputs: Inputs) -> Answer:
    """Return every number of the page."""
    return run_to_end(search(inputs))


def views(inputs: Inputs, result: Answer) -> Views:
    """Return the views, in the order of the page."""
    present = Presenter(result, inputs)
    # A number says so where there is nothing that it could tell.
    best: dict[str, Any] = {} if result.best else {"note": "no plan fits"}
    why = _NOT_RUN.get(result.why.verdict)
    note: dict[str, Any] = {"note": why} if why else {}
    return {
        "step": present.value("step", assumes=result.known, **best),
        "best": pictures.best_plan_badge(result),
        "versus": pictures.step_comparison(result),
        "why": pictures.plan_verdict(result),
        "own_step": present.value("own_step", **note)
        if note
        else value_with_range(present, "own_step", result.own_evidence),
        **{name: present.value(name, **note) for name in ("slower", "own_held")},
        **{
            name: present.value(name, **best)
            for name in ("rate", "days", "in_the_end", "cost", "held")
        },
        "filled": partial(pictures.memory_comparison, result),
        "ties": partial(pictures.ties_badge, result),
        "map": partial(pictures.splits_heatmap, result),
        "frontier": partial(pictures.memory_frontier, result),
        "gpus": partial(pictures.gpu_frontier, result),
        "limits": partial(pictures.limits_badge, result),
        "moves": partial(pictures.moves_table, result),
        "table": partial(pictures.plans_table, result),
        "published": partial(published_comparison, inputs, result),
        **present.values("searched", "splits", "pairs", "pair_error"),
        "export": partial(_export, result),
    }


def _export(answer: Answer) -> Code:
    """Return the best plan as the configuration of its software."""
    if not answer.run:
        return Code(title="No plan fits", language="text", text="")
    megatron = answer.run.training.framework == "megatron"
    return Code(
        title=f"The best plan for {'Megatron-LM' if megatron else 'torchtitan'}",
        language="bash" if megatron else "toml",
        text=(megatron_arguments if megatron else torchtitan_toml)(answer.run),
    )
