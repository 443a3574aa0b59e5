"""Estimate a run: step time, memory and what they consist of, for any parallel plan."""

from dataclasses import dataclass
from functools import cache, partial

from engine.catalog.reported_runs import REPORTED, Reported
from engine.core.inputs import Scalar
from engine.core.lazy import Later
from engine.core.outputs import Views
from engine.core.text import Text, say
from engine.core.units import BYTES, RATIO, SECONDS, SHARE, TOKEN_RATE, Ratio
from engine.core.views import Challenge, Cite, Condition, Table
from engine.form.run import charts, verdicts
from engine.form.run.inputs import Inputs as Inputs
from engine.form.run.nearest_valid import run_of
from engine.form.run.result import Estimated, estimated
from engine.form.run.views import EQUATIONS as EQUATIONS
from engine.form.run.views import peak, values
from engine.run.run import Run

_FIGURES = {
    "step_time": ("Step", SECONDS),
    "token_rate": ("Tokens per second of a GPU", TOKEN_RATE),
    "mfu": ("MFU", SHARE),
}


def reported_of(inputs: Inputs) -> Reported | None:
    """Return what was published of exactly this run, if anything."""
    return next((one for one in REPORTED.values() if Inputs(**one.settings) == inputs), None)  # type: ignore[arg-type]


def beside(inputs: Inputs, found: Estimated) -> Table:
    """Return the published figure beside the predicted one; empty for a run nobody published."""
    one = reported_of(inputs)
    if one is None:
        return Table(title="", columns=(), rows=())
    label, quantity = _FIGURES[one.figure]
    predicted = float(getattr(found, one.figure))
    off = predicted / one.value - 1
    return Table(
        title="Published of this run",
        columns=("What", "Predicted", "Published", "Prediction off by", "As published", "Source"),
        rows=(
            (
                label,
                say("{p}", p=(predicted, quantity)),
                say("{v}", v=(one.value, quantity)),
                say(f"{'+' if off >= 0 else '−'}{{off}}", off=(abs(off), SHARE)),
                one.said,
                Cite((one.source,)),
            ),
        ),
    )


TITLE = "Estimate a run"
QUESTION = "How long does one training step take, where does the time go, and does it fit?"
PRESETS = {name: one.settings for name, one in REPORTED.items()}

_LONGER: Ratio = 1.02  # of the step at the start, at most
_SOLUTION: dict[str, Scalar] = {
    "tensor_parallel": 8,
    "pipeline_parallel": 2,
    "virtual_pipeline": 10,
    "context_parallel": 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What had to change for a run to be possible, its estimate, and that at the start."""

    changes: tuple[Text, ...]
    found: Estimated
    start: Later[Estimated]


@cache
def _at_start() -> Estimated:
    """Return the estimate that the page opens with."""
    return estimated(run_of(Inputs())[0])


def solve(inputs: Inputs) -> Result:
    """Return the estimate of the run nearest to the inputs."""
    run, changes = run_of(inputs)
    return Result(changes=changes, found=estimated(run), start=Later(_at_start))


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    found = result.found
    numbers = values(found)
    return {
        "step_time": numbers.pop("step_time"),
        "possible": verdicts.possible(found.run, found.doubts, result.changes),
        **numbers,
        "time_parts": partial(charts.time_parts, found),
        "fits": verdicts.fit(found),
        "peak_memory": peak(found),
        "memory_parts": partial(charts.memory_parts, found),
        "published": partial(beside, inputs, found),
        "challenge": partial(_challenge, result),
    }


def _challenge(result: Result) -> Challenge:
    """Return the goal: the same job without context parallelism, in less memory."""
    found, start = result.found, result.start()
    run, step, peak = found.run, start.step_time, start.held.peak_memory
    return Challenge(
        title="Without context parallelism",
        goal="Train the same Llama 3.1 70B on the same 64 H100 without context parallelism: in "
        "less memory than the published plan, and hardly slower.",
        conditions=(
            Condition(
                text="the job of the start: model, GPUs, network, batch",
                met=_same_job(run, start.run),
            ),
            Condition(
                text="no context parallelism, nothing recomputed",
                met=run.plan.context_parallel == 1 and run.training.recompute == "none",
            ),
            Condition(
                text=say(
                    "a step of at most {t}, {r} of that at the start",
                    t=(_LONGER * step, SECONDS),
                    r=(_LONGER, RATIO),
                ),
                met=found.step_time <= _LONGER * step,
            ),
            Condition(
                text=say("it fits, and needs less than {m}", m=(peak, BYTES)),
                met=found.fits and found.held.peak_memory < peak,
            ),
        ),
        hints=(
            "Context parallelism cut the activations of every layer in two. Which other axis "
            "cuts them?",
            "The group of that axis must stay inside a node: how many GPUs has one?",
            "Fewer stages leave a smaller bubble, and so do more pieces per stage.",
        ),
        start={},
        solution=_SOLUTION,
    )


def _same_job(run: Run, start: Run) -> bool:
    batch = ("global_batch_size", "sequence_length", "precision")
    return (
        (run.model, run.cluster) == (start.model, start.cluster)
        and run.plan.world_size == start.plan.world_size
        and all(getattr(run.training, key) == getattr(start.training, key) for key in batch)
    )
