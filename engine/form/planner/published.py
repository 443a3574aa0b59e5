"""What was published of a job that the planner is asked, beside its own plan."""

from engine.catalog.reported_runs import REPORTED, Reported
from engine.core.text import say
from engine.core.units import SECONDS, TOKEN_RATE
from engine.core.views import Cell, Cite, Table
from engine.form.planner.answer import Answer
from engine.form.planner.inputs import Inputs

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
