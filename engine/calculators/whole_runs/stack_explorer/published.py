"""Published figures of the explorer's job."""

from dataclasses import replace

from engine.calculators.whole_runs.stack_explorer.result import Result
from engine.core.outputs import Presenter
from engine.core.text import say
from engine.core.units import GPU_TIME, SECONDS, SHARE, with_digits
from engine.core.views import Cell, Published, Table, Value
from engine.form.run.prediction_text import range_text


def mfu_value(mfu: Value, result: Result) -> Value:
    """Return the modeled MFU, with the published MFU if any."""
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


def table(present: Presenter, result: Result) -> Table:
    """Return published and modelled figures of the job."""
    known = result.published
    rows: tuple[tuple[Cell, ...], ...] = (
        ("MFU", "no publication of this job", present.say("{mfu}"), ""),
    )
    if known:
        rows = (
            (
                "MFU",
                say("{m}", m=(known.mfu, SHARE)),
                present.say("{mfu}"),
                range_text(result.job.found.evidence),
            ),
            (
                "The run",
                say(
                    "{g}, {t} of all GPUs",
                    g=(known.gpu_time, with_digits(GPU_TIME)),
                    t=(known.wall, SECONDS),
                ),
                present.say("{forecast_time}; {run_time} for the steps alone"),
                "Published: all GPU hours. Modeled: checkpoints every hour, Llama 3's failures, "
                "no smaller batch at the start.",
            ),
        )
    return Table(
        title="This job, published and modeled",
        columns=("What", "Published", "Modeled", "Why they differ"),
        rows=rows,
        caption="Llama 3 paper, table 4, and the model card of Llama 3.1." if known else "",
    )
