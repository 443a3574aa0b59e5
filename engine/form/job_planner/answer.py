"""The answer of the job planner: the best plan, its days and its money, and other sizes."""

import math
from dataclasses import dataclass, replace
from typing import Annotated

from engine.core.outputs import Output
from engine.core.slices import SlicedRun, Slices, partial_progress
from engine.core.text import Text
from engine.core.units import Bytes, Count, Money, Price, Ratio, Seconds, TokenRate
from engine.form.job_planner.inputs import (
    Inputs,
    job_of,
    model_of,
    price_of,
)
from engine.form.plan_to_reality import ASSUMES, NO_LOSSES, SOURCES, in_the_end
from engine.formulas.job import time_of_steps
from engine.run.plan_space import PlanningJob
from engine.run.run import Run
from engine.simulate.planner.evaluate import Candidate, candidate_run
from engine.simulate.planner.moves import (
    JobChange,
    StepLimit,
    find_job_changes,
    largest_overhead,
)
from engine.simulate.planner.search import SearchResult, search_plans
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
# Sizes of the curve, the asked one among them unless the wish is far from it.
_SIZES: Count = 7
_LARGEST: Count = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedPlan:
    """The best plan on one number of GPUs.

    Attributes:
        gpus: that it takes.
        best: the plan.
        steps: time of all steps.
        end: what runs of such steps took in the end, in the middle.
        cost: of the GPUs until then; 0 without a price.
    """

    gpus: Count
    best: Candidate
    steps: Seconds
    end: Seconds
    cost: Money


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The job planner's result; zero where no plan fits.

    Attributes:
        job: that was asked.
        changes: of the model's shape.
        found: the fastest plans whose process stays within the GPU.
        run, evidence: the best plan's, and on what its step rests.
        limit: what of the best plan's step is no computation.
        moves: what changes of the job would gain.
        sizes: the best plan on each of several numbers of GPUs.
        asked: numbers of GPUs of the curve.
        end_low, end_high: where eight of ten runs ended.
        cost_low, cost_high: the cost until then.
    """

    job: PlanningJob
    changes: tuple[Text, ...]
    found: SearchResult
    run: Run | None
    evidence: Evidence | None
    limit: StepLimit | None
    moves: SlicedRun[tuple[JobChange, ...]] | None
    sizes: SlicedRun[tuple[SizedPlan, ...]]
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
            note="{end_low} to {end_high} in eight of ten",
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
            note="{cost_low} to {cost_high} in eight of ten",
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
        return self.found.best[0] if self.found.best else None

    @property
    def batch(self) -> Count:
        """Sequences of a global batch."""
        return self.job.training.global_batch_size


def answer(inputs: Inputs) -> Slices[Answer]:
    """Return the planner's result for a job."""
    job = job_of(inputs)
    found = yield from search_plans(job, _COUNT)
    best = found.best[0] if found.best else None
    step = best.step if best else 0.0
    run = candidate_run(job, best.plan, best.training) if best else None
    days = steps_time(job, inputs.tokens, step)
    low, end, high = in_the_end(days)
    price = price_of(inputs)
    rent = price * job.world_size
    tokens = job.training.global_batch_size * job.training.sequence_length
    asked = curve_sizes(inputs.world_size, end / inputs.deadline)
    return Answer(
        job=job,
        changes=model_of(inputs)[1],
        found=found,
        run=run,
        evidence=evidence(run) if run else None,
        limit=largest_overhead(best) if best else None,
        moves=SlicedRun(find_job_changes(job, best)) if best else None,
        sizes=SlicedRun(_curve(job, inputs.tokens, asked)),
        asked=asked,
        step=step,
        rate=tokens / step / job.world_size if best else 0.0,
        days=days,
        in_the_end=end,
        end_low=low,
        end_high=high,
        steps_cost=days * rent,
        cost=end * rent,
        cost_low=low * rent,
        cost_high=high * rent,
        price=price,
        held=best.memory.total if best else 0.0,
    )


def steps_time(job: PlanningJob, tokens: float, step: Seconds) -> Seconds:
    """Return the time of all steps of a run."""
    training = job.training
    return time_of_steps(tokens, training.global_batch_size, training.sequence_length, step)


def curve_sizes(gpus: Count, needed: Ratio) -> tuple[Count, ...]:
    """Return numbers of GPUs to look at: the asked one times powers of two.

    From a quarter to four times as many, and on to so many times as many as the wish needs, were
    speed in proportion, and one beyond; at most seven, those nearest to what it needs, and the
    asked number itself.
    """
    aim = math.ceil(math.log2(needed)) if needed > 0 else 0
    powers = list(range(min(-2, aim - 1), max(2, aim + 1) + 1))
    powers = sorted(sorted(powers, key=lambda power: abs(power - aim))[:_SIZES])
    sizes = (gpus * 2.0**power for power in powers)
    whole = {int(size) for size in sizes if size == int(size) and size <= _LARGEST}
    return tuple(sorted(whole | {gpus}))


def _curve(
    job: PlanningJob, tokens: float, asked: tuple[Count, ...]
) -> Slices[tuple[SizedPlan, ...]]:
    """Find the best plan on each number of GPUs that has one."""
    plans = []
    for done, gpus in enumerate(asked):
        sized = replace(job, world_size=gpus)
        found = yield from partial_progress(search_plans(sized, 1), done, len(asked))
        if found.best:
            steps = steps_time(job, tokens, found.best[0].step)
            end = in_the_end(steps)[1]
            cost = end * gpus * job.cluster.price_per_hour
            plans.append(SizedPlan(gpus=gpus, best=found.best[0], steps=steps, end=end, cost=cost))
    return tuple(plans)


def in_time(plans: tuple[SizedPlan, ...], deadline: Seconds) -> SizedPlan | None:
    """Return the plan on the fewest GPUs that is done by then."""
    return next((plan for plan in plans if plan.end <= deadline), None)


def within(plans: tuple[SizedPlan, ...], budget: Money) -> SizedPlan | None:
    """Return the plan that is done first for so much money."""
    paid = [plan for plan in plans if plan.cost <= budget]
    return min(paid, key=lambda plan: plan.end, default=None)
