"""Planner: the best plans of a job, and why not another."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from engine.catalog.reported_runs import REPORTED, Reported
from engine.core.outputs import Teller, Views
from engine.core.slices import Slices, whole
from engine.core.text import say
from engine.core.units import SECONDS, TOKEN_RATE
from engine.core.views import Cell, Cite, Code, Table
from engine.form.planner import pictures
from engine.form.planner.answer import Answer, answer
from engine.form.planner.inputs import PRESETS as PRESETS
from engine.form.planner.inputs import Inputs as Inputs
from engine.form.run.prediction_text import ranged
from engine.run.exporters.fully_sharded import torchtitan_toml
from engine.run.exporters.megatron import megatron_arguments

_KEYS = ("model", "world_size", "sequence_length", "global_batch_size")
_COLUMNS = ("Plan", "Step", "Tokens per second of a GPU", "Source")


def reported_of(inputs: Inputs) -> Reported | None:
    """Return what was published of the job, if its plan is the reader's own."""
    for one in REPORTED.values():
        same = all(one.settings.get(key) == getattr(inputs, key) for key in _KEYS)
        plan = (
            str(one.settings.get("tensor_parallel")) == inputs.own_tensor
            and str(one.settings.get("pipeline_parallel")) == inputs.own_pipeline
            and one.settings.get("framework", "megatron") == inputs.own_framework
        )
        if same and plan and one.settings.get("gpu") == inputs.gpu:
            return one
    return None


def beside(inputs: Inputs, found: Answer) -> Table:
    """Return the published figure beside the predicted ones; empty where nothing was published."""
    one = reported_of(inputs)
    if one is None or not found.why.plan or not found.best:
        return Table(title="", columns=(), rows=())
    tokens = inputs.global_batch_size * inputs.sequence_length / found.job.world_size
    steps = {"The published plan, predicted": found.own_step, "The planner's best": found.step}
    rows: list[tuple[Cell, ...]] = [
        (name, say("{t}", t=(step, SECONDS)), say("{r}", r=(tokens / step, TOKEN_RATE)), "")
        for name, step in steps.items()
    ]
    measured = tokens / one.value if one.figure == "token_rate" else one.value
    published = (
        "Published",
        say("{t}", t=(measured, SECONDS)),
        say("{r}", r=(tokens / measured, TOKEN_RATE)),
        Cite((one.source,)),
    )
    return Table(
        title="Published of this job",
        columns=_COLUMNS,
        rows=(published, *rows),
        caption=one.said,
    )


TITLE = "The planner"
QUESTION = "Which plan is the fastest for my model on my GPUs, and why not another?"
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
    return whole(search(inputs))


def views(inputs: Inputs, result: Answer) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(result, inputs)
    # A number says so where there is nothing that it could tell.
    best: dict[str, Any] = {} if result.best else {"note": "no plan fits: no step runs"}
    why = _NOT_RUN.get(result.why.verdict)
    own: dict[str, Any] = {"note": why} if why else {}
    return {
        "step": tell.value("step", assumes=result.known, **best),
        "best": pictures.best(result),
        "versus": pictures.versus(result),
        "why": pictures.why(result),
        "own_step": tell.value("own_step", **own)
        if own
        else ranged(tell, "own_step", result.own_evidence),
        **{name: tell.value(name, **own) for name in ("slower", "own_held")},
        **{name: tell.value(name, **best) for name in ("rate", "days", "cost", "held")},
        "filled": partial(pictures.filled, result),
        "ties": partial(pictures.ties, result),
        "map": partial(pictures.map_of_splits, result),
        "frontier": partial(pictures.memory_frontier, result),
        "gpus": partial(pictures.gpu_frontier, result),
        "limits": partial(pictures.limits, result),
        "moves": partial(pictures.next_moves, result),
        "table": partial(pictures.table, result),
        "published": partial(beside, inputs, result),
        **tell.values("searched", "splits", "pairs", "pair_error"),
        "export": partial(_export, result),
    }


def _export(found: Answer) -> Code:
    """Return the best plan as the configuration of its software."""
    if not found.run:
        return Code(title="No plan fits", language="text", text="")
    megatron = found.run.training.framework == "megatron"
    return Code(
        title=f"The best plan for {'Megatron-LM' if megatron else 'torchtitan'}",
        language="bash" if megatron else "toml",
        text=(megatron_arguments if megatron else torchtitan_toml)(found.run),
    )
