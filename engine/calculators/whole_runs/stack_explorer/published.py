"""The explorer's job beside what was published of it."""

from dataclasses import replace

from engine.calculators.whole_runs.stack_explorer.result import Result
from engine.core.outputs import Teller
from engine.core.text import say
from engine.core.units import GPU_TIME, SECONDS, SHARE, as_given
from engine.core.views import Cell, Published, Table, Value
from engine.form.run.prediction_text import near


def beside(mfu: Value, result: Result) -> Value:
    """Return the MFU of the model with the published one, if there is one."""
    known = result.published
    if known is None:
        return mfu
    published = Published(
        text=say("the Llama 3 paper gives {m} for this job", m=(known.mfu, SHARE)),
        reason="The model counts steps alone, and its range holds for four runs in five.",
        source=known.sources[0],
    )
    return replace(
        mfu,
        receipt=replace(mfu.receipt, published=published),
        note=say("modeled; published: {m}", m=(known.mfu, SHARE)),
    )


def table(tell: Teller, result: Result) -> Table:
    """Return published and modelled figures of the job."""
    known = result.published
    rows: tuple[tuple[Cell, ...], ...] = (
        ("MFU", "no publication of this job", tell.say("{mfu}"), ""),
    )
    if known:
        rows = (
            (
                "MFU",
                say("{m}", m=(known.mfu, SHARE)),
                tell.say("{mfu}"),
                near(result.job.found.evidence),
            ),
            (
                "The run",
                say(
                    "{g}, {t} of all GPUs",
                    g=(known.gpu_time, as_given(GPU_TIME)),
                    t=(known.wall, SECONDS),
                ),
                tell.say("{run_time}"),
                "Published: all GPU hours. Modeled: the steps alone, no failure, no checkpoint, "
                "no smaller batch at the start.",
            ),
        )
    return Table(
        title="This job, published and modeled",
        columns=("What", "Published", "Modeled", "Why they differ"),
        rows=rows,
        caption="Llama 3 paper, table 4, and the model card of Llama 3.1." if known else "",
    )
