"""The pictures of the cost of a run: cost over MFU, and what whole runs have reached."""

from engine.calculators.one_gpu.run_cost.inputs import COLUMN, Inputs, Result
from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.models import MODELS
from engine.catalog.reported_hours import WHOLE_RUNS
from engine.core.outputs import Teller
from engine.core.units import GPU_TIME, SHARE, TERA
from engine.core.views import Cite, Lines, Point, Series, Table


def curve(tell: Teller, inputs: Inputs, result: Result) -> Lines:
    """Return the cost over the MFU."""
    return Lines(
        title="Cost over MFU",
        x=tell.axis("utilization", "MFU", low=COLUMN[0], high=COLUMN[-1]),
        y=tell.axis("cost", "cost", low=0.0, high=result.cost_column[4]),
        series=(
            Series(
                key="cost",
                label="cost",
                x=COLUMN[4:],
                y=result.cost_column[4:],
                color="compute",
            ),
        ),
        points=(
            Point(
                key="now",
                label=tell.say("{cost}"),
                x=inputs.utilization,
                y=min(result.cost, result.cost_column[4]),
            ),
        ),
        handle="utilization",
        caption="Twice the MFU is half the bill. The number of GPUs changes the date, and not the "
        "bill.",
    )


def published(tell: Teller, result: Result) -> Table:
    """Return published GPU-hours and the MFU that they amount to over the whole run."""
    return Table(
        title="Whole runs, as published",
        columns=("Run", "Tokens", "Published", "Share of the peak, whole run", "Source"),
        rows=tuple(
            (
                f"{MODELS[one.model].name} on {ACCELERATORS[one.gpu].name}",
                f"{one.tokens / TERA:g}T",
                tell.say("{g}", g=(one.gpu_time, GPU_TIME)),
                tell.say("{u}", u=(share, SHARE)),
                Cite((one.source,)),
            )
            for one, share in zip(WHOLE_RUNS, result.reached, strict=True)
        ),
        caption="Six operations per parameter and token over the 16-bit peak. Restarts, "
        "evaluations and slow phases are in the hours, so this is less than the MFU of a step. "
        "DeepSeek-V3 multiplied in fp8.",
    )
