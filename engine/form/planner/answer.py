"""The answer of the planner to a reader: the best plan of a job, and a plan of the reader's own."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any

from engine.basis.slices import Running, Slices
from engine.basis.text import Text
from engine.basis.told import Told
from engine.basis.units import Bytes, Count, Money, Ratio, Seconds, Share, TokenRate
from engine.form.levers.accuracy import GAIN_ERROR, PAIRS
from engine.form.planner.inputs import Inputs, job_of, own_run
from engine.form.run.known import known
from engine.run.plan_space import Job
from engine.run.run import Run
from engine.simulate.capacity import usable
from engine.simulate.planner.evaluate import Candidate, Shape, run_of
from engine.simulate.planner.search import Found, pricing, searching
from engine.simulate.planner.why import Reason, why_not
from engine.simulate.step_range import step_range

_MODEL = (
    "Every plan that divides is bounded by its layers; those that could be best are computed.",
    "The cost model of the site, whose constants are fitted to published runs.",
)

_HELD = ("States, activations and buffers of the fullest rank, by the memory model of the site.",)
_PAIRS = (
    "Two published runs of one source that differ in one setting: the ratio of their speeds, "
    "predicted and measured.",
    "These runs include those that the constants were fitted to.",
)
_COUNT: Count = 8
# A plan of the reader's own changes nothing about the search.
_OWN: dict[str, Any] = {
    name: field.default
    for name, field in Inputs.__dataclass_fields__.items()
    if name.startswith("own_") and name != "own_constants"
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the planner found; zero where no plan fits.

    Attributes:
        job: that was asked.
        shapes: of the job, the lowest bound first.
        found: the fastest plans.
        own: the reader's plan.
        why: what speaks against it.
    """

    job: Job
    shapes: list[Shape]
    found: Found
    own: Run
    why: Reason
    step: Annotated[
        Seconds,
        Told("Step of the best plan", "", "a range from {low} to {high}", "compute", _MODEL),
    ]
    low: Seconds
    high: Seconds
    rate: Annotated[TokenRate, Told("Tokens per second of a GPU", color="compute", assumes=_MODEL)]
    days: Annotated[
        Seconds, Told("The whole run", note="if nothing fails", color="ink", assumes=_MODEL)
    ]
    cost: Annotated[Money, Told("It costs", color="ink", assumes=_MODEL)]
    held: Annotated[Bytes, Told("Fullest GPU", "", "of {room} that may be filled", "memory", _HELD)]
    room: Bytes
    own_step: Annotated[Seconds, Told("Step of your plan", color="communication", assumes=_MODEL)]
    own_held: Annotated[Bytes, Told("Fullest GPU of your plan", color="memory", assumes=_HELD)]
    slower: Annotated[
        Ratio, Told("Your plan's step over the best one's", color="communication", assumes=_MODEL)
    ]
    searched: Annotated[Count, Told("Splits that could be best", assumes=_MODEL[:1])]
    splits: Annotated[
        Count, Told("Splits of a layer and a micro-batch", assumes=("Each with many pipelines.",))
    ]
    pairs: Annotated[
        Count, Told("Pairs of published runs", note="that differ in one setting", assumes=_PAIRS)
    ] = PAIRS
    pair_error: Annotated[
        Share, Told("Four in five ratios are within", note="of the measured one", assumes=_PAIRS)
    ] = GAIN_ERROR

    @property
    def best(self) -> Candidate | None:
        """The fastest plan that fits."""
        return self.found.best[0] if self.found.best else None

    @property
    def best_run(self) -> Run | None:
        """The fastest plan that fits, as a training run."""
        best = self.best
        return run_of(self.job, best.plan, best.training) if best else None

    @property
    def known(self) -> tuple[Text, ...]:
        """What is known of the best plan's step: its range, and runs measured nearby."""
        run = self.best_run
        return *_MODEL, *(known(run) if run else ())


@lru_cache(maxsize=8)
def _searched(inputs: Inputs) -> Running[tuple[list[Shape], Found]]:
    """Return the search of a job, one for all plans of the reader's."""
    return Running(_search(job_of(inputs)))


def _search(job: Job) -> Slices[tuple[list[Shape], Found]]:
    """Find the shapes of a job, the lowest bound first, and its fastest plans."""
    shapes = yield from pricing(job)
    return shapes, (yield from searching(job, _COUNT, shapes))


def answer(inputs: Inputs) -> Slices[Answer]:
    """Find what the planner says of a job and of a reader's plan."""
    job, tokens = job_of(inputs), inputs.tokens
    own = own_run(inputs, job)
    shapes, found = yield from _searched(replace(inputs, **_OWN)).rest()
    best = found.best[0] if found.best else None
    why = why_not(job, own, best)
    step = best.step if best else 0.0
    low, high = step_range(run_of(job, best.plan, best.training), step)[:2] if best else (0.0, 0.0)
    batch = job.training.global_batch_size * job.training.sequence_length
    days = tokens / batch * step
    plan = why.plan
    return Answer(
        job=job,
        shapes=shapes,
        found=found,
        own=own,
        why=why,
        step=step,
        low=low,
        high=high,
        rate=batch / step / job.world_size if best else 0.0,
        days=days,
        cost=days * job.cluster.price_per_hour * job.world_size,
        held=best.held.total if best else 0.0,
        room=usable(job.cluster.gpu.memory, job.training) * (1 - job.kept_free),
        own_step=plan.step if plan else 0.0,
        own_held=plan.held.total if plan else 0.0,
        slower=plan.step / step if plan and best else 0.0,
        searched=found.seen,
        splits=len(shapes),
    )
