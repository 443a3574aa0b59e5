"""The answer of the job planner: the best plan, its days and its money, and other sizes."""

import math
from dataclasses import dataclass, replace
from typing import Annotated

from engine.core.outputs import Output
from engine.core.slices import SlicedRun, Slices
from engine.core.text import Text
from engine.core.units import Bytes, Count, Money, Price, Seconds, TokenRate
from engine.form.job_planner.inputs import (
    NONE,
    Inputs,
    changes_of,
    on_other_machine,
    price_of,
    request_of,
)
from engine.form.job_planner.sizes import (
    SizedPlan,
    best_by_gpus,
    best_by_model,
    curve_sizes,
    steps_time,
)
from engine.form.plan_to_reality import ASSUMES, NO_LOSSES, SOURCES, in_the_end
from engine.run.file import InputError
from engine.run.plan_space import PlanningJob
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate, candidate_run
from engine.simulate.planner.moves import (
    JobChange,
    StepLimit,
    find_job_changes,
    largest_overhead,
)
from engine.simulate.planner.published import PublishedPlan, published_beside
from engine.simulate.planner.search import (
    SearchResult,
    price_job,
    pricing_part,
    search_plans,
    timing_part,
)
from engine.simulate.planner.ties import Tie, find_ties
from engine.simulate.step.prediction_evidence import Evidence, evidence

_MODEL = (
    "Every plan that divides is bounded by its layers; those that could be best are computed.",
    "The cost model of the site, whose constants are fitted to published runs.",
)
_HELD = (
    "What nvidia-smi shows of the process: states, activations, buffers, what the allocator holds "
    "beyond them, CUDA and NCCL; of the rank that holds most, by the memory model of the site.",
)
_PAID = ("Every GPU is paid for from the first step to the last, and nothing else is.",)
_COUNT: Count = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The job planner's result; zero where no plan fits.

    Attributes:
        job: that was asked.
        refused: why it has no plan, where that is not the memory.
        changes: of the model's shape.
        search: the fastest plans whose process stays within the GPU.
        run, evidence: the best plan's, and on what its step rests.
        limit: what of the best plan's step is no computation.
        tie: what ties with the best plan.
        published: published plans of the model on this job.
        moves: what changes of the job would gain.
        sizes: the best plan on each of several numbers of GPUs.
        others: likewise, of the machine that is compared.
        models: the best plan of the model, and of larger and smaller ones of its shape.
        asked: numbers of GPUs of the curve.
        end_low, end_high: where eight of ten runs ended.
        cost_low, cost_high: the cost until then.
    """

    job: PlanningJob
    refused: tuple[str, ...]
    changes: tuple[Text, ...]
    search: SearchResult
    run: Run | None
    evidence: Evidence | None
    limit: StepLimit | None
    tie: SlicedRun[Tie] | None
    published: tuple[PublishedPlan, ...]
    moves: SlicedRun[tuple[JobChange, ...]] | None
    sizes: SlicedRun[tuple[SizedPlan, ...]]
    others: SlicedRun[tuple[SizedPlan, ...]] | None
    models: SlicedRun[tuple[SizedPlan, ...]] | None
    asked: tuple[Count, ...]
    step: Annotated[Seconds, Output("Step", color="compute", assumes=_MODEL)]
    rate: Annotated[
        TokenRate, Output("Tokens per second of a GPU", color="compute", assumes=_MODEL)
    ]
    days: Annotated[
        Seconds,
        Output("The whole run", note="if nothing fails", color="ink", assumes=(*_MODEL, NO_LOSSES)),
    ]
    in_the_end: Annotated[
        Seconds,
        Output(
            "Runs of this kind took in the end",
            note="{end_low} to {end_high} in eight of ten pretraining runs",
            color="ink",
            assumes=ASSUMES,
            sources=SOURCES,
        ),
    ]
    end_low: Seconds
    end_high: Seconds
    steps_cost: Annotated[Money, Output("The steps cost", color="ink", assumes=(*_MODEL, *_PAID))]
    cost: Annotated[
        Money,
        Output(
            "In the end it costs",
            note="{cost_low} to {cost_high} in eight of ten pretraining runs",
            color="ink",
            assumes=(*_PAID, *ASSUMES),
            sources=SOURCES,
        ),
    ]
    cost_low: Money
    cost_high: Money
    price: Price
    held: Annotated[Bytes, Output("Memory of the process", color="memory", assumes=_HELD)]

    @property
    def best(self) -> Candidate | None:
        """The fastest plan."""
        return self.search.best[0] if self.search.best else None

    @property
    def batch(self) -> Count:
        """Sequences of a global batch."""
        return self.job.training.global_batch_size


def answer(inputs: Inputs) -> Slices[Answer]:
    """Return the planner's result for a job."""
    job, refused = priced_job(inputs)
    shapes = yield from pricing_part(price_job(job))
    search = yield from timing_part(search_plans(job, _COUNT, shapes))
    if refused:
        search = replace(search, best=())
    best = search.best[0] if search.best else None
    step = best.step if best else math.nan
    run = candidate_run(job, best.plan, best.training) if best else None
    days = steps_time(job, inputs.tokens, step)
    low, end, high = in_the_end(days)
    price = price_of(inputs)
    rent = price * job.world_size or math.nan
    tokens = job.training.global_batch_size * job.training.sequence_length
    asked = (
        () if refused else curve_sizes(inputs.world_size, end / inputs.deadline if best else 1.0)
    )
    return Answer(
        job=job,
        refused=refused,
        changes=changes_of(inputs),
        search=search,
        run=run,
        evidence=evidence(run) if run else None,
        limit=largest_overhead(best) if best else None,
        tie=SlicedRun(find_ties(search.job, best, shapes)) if best else None,
        published=published_beside(job, best) if best else (),
        moves=SlicedRun(find_job_changes(job, best)) if best else None,
        sizes=SlicedRun(best_by_gpus(job, inputs.tokens, asked, best)),
        others=_other_sizes(inputs) if best else None,
        models=SlicedRun(best_by_model(job, inputs.tokens, best)) if best else None,
        asked=asked,
        step=step,
        rate=tokens / step / job.world_size,
        days=days,
        in_the_end=end,
        end_low=low,
        end_high=high,
        steps_cost=days * rent,
        cost=end * rent,
        cost_low=low * rent,
        cost_high=high * rent,
        price=price,
        held=best.memory.total if best else math.nan,
    )


def priced_job(inputs: Inputs) -> tuple[PlanningJob, tuple[str, ...]]:
    """Return the job, and why it is refused; then it is the same with all parameters trained."""
    try:
        return request_of(inputs).job, ()
    except InputError as error:
        return request_of(replace(inputs, trained="full")).job, error.problems


def _other_sizes(inputs: Inputs) -> SlicedRun[tuple[SizedPlan, ...]] | None:
    """Return the search on the machine that is compared: half, as many, and twice as many GPUs."""
    if inputs.other_machine == NONE:
        return None
    other = on_other_machine(inputs)
    gpus = other.world_size
    asked = (*((gpus // 2,) if gpus > 1 else ()), gpus, 2 * gpus)
    return SlicedRun(best_by_gpus(priced_job(other)[0], inputs.tokens, asked))
