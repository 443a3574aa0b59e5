"""The best plan on several numbers of GPUs, and of larger and smaller models of one shape."""

import math
from dataclasses import dataclass, replace

from engine.catalog.models import Model, head_size
from engine.core.slices import Slices, partial_progress
from engine.core.units import Count, Money, Parameters, Ratio, Seconds
from engine.form.plan_to_reality import in_the_end
from engine.formulas.job import time_of_steps
from engine.formulas.parameters import total_parameters
from engine.run.plan_space import PlanningJob
from engine.simulate.planner.evaluate import Candidate
from engine.simulate.planner.search import search_plans

# Sizes of the curve, the asked one among them unless the wish is far from it.
_SIZES: Count = 7
_LARGEST: Count = 1 << 18
# Of the model's width and layers.
_SCALES: tuple[Ratio, ...] = (0.25, 0.5, 0.75, 1.0, 1.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedPlan:
    """The best plan of a model on one number of GPUs.

    Attributes:
        gpus: that it takes.
        parameters: of the model.
        best: the plan.
        steps: time of all steps.
        end: what runs of such steps took in the end, in the middle.
        cost: of the GPUs until then; 0 without a price.
    """

    gpus: Count
    parameters: Parameters
    best: Candidate
    steps: Seconds
    end: Seconds
    cost: Money


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


def best_by_gpus(
    job: PlanningJob, tokens: float, asked: tuple[Count, ...], known: Candidate | None = None
) -> Slices[tuple[SizedPlan, ...]]:
    """Return the best plan on each number of GPUs that has one; `known`: on the job's own."""
    jobs = [replace(job, world_size=gpus) for gpus in asked]
    return (yield from _best_of(jobs, tokens, job, known))


def best_by_model(
    job: PlanningJob, tokens: float, known: Candidate | None = None
) -> Slices[tuple[SizedPlan, ...]]:
    """Return the best plan of the model and of larger and smaller ones of its shape.

    Nothing for a model whose layers differ: it has no shape that could be scaled.
    """
    if job.model.mix:
        return ()
    models = dict.fromkeys(scaled_model(job.model, scale) for scale in _SCALES)
    jobs = [replace(job, model=model) for model in models]
    return (yield from _best_of(jobs, tokens, job, known))


def _best_of(
    jobs: list[PlanningJob], tokens: float, asked: PlanningJob, known: Candidate | None
) -> Slices[tuple[SizedPlan, ...]]:
    """Return the best plans of jobs that have one; that of the `asked` job may be known."""
    plans = []
    for done, job in enumerate(jobs):
        best = known if job == asked else None
        if best is None:
            result = yield from partial_progress(search_plans(job, 1), done, len(jobs))
            best = result.best[0] if result.best else None
        if best:
            steps = steps_time(job, tokens, best.step)
            end = in_the_end(steps)[1]
            plan = SizedPlan(
                gpus=job.world_size,
                parameters=total_parameters(job.model),
                best=best,
                steps=steps,
                end=end,
                cost=end * job.world_size * job.cluster.price_per_hour,
            )
            plans.append(plan)
    return tuple(plans)


def scaled_model(model: Model, scale: Ratio) -> Model:
    """Return a model with `scale` times the width and the layers, in whole groups of heads.

    Heads keep their size; experts keep their number.
    """
    groups = model.num_key_value_heads
    heads = max(1, round(model.num_attention_heads * scale / groups)) * groups
    wider = heads / model.num_attention_heads
    if wider == 1:
        return model
    return replace(
        model,
        num_layers=max(1, round(model.num_layers * scale)),
        num_attention_heads=heads,
        head_size=head_size(model),
        hidden_size=round(model.hidden_size * wider / 64) * 64,
        ffn_hidden_size=round(model.ffn_hidden_size * wider / 64) * 64,
        expert_ffn_hidden_size=round(model.expert_ffn_hidden_size * wider / 64) * 64,
    )


def in_time(plans: tuple[SizedPlan, ...], deadline: Seconds) -> SizedPlan | None:
    """Return the plan on the fewest GPUs that is done by then."""
    return next((plan for plan in plans if plan.end <= deadline), None)


def largest_in_time(plans: tuple[SizedPlan, ...], deadline: Seconds) -> SizedPlan | None:
    """Return the plan of the largest model that is done by then."""
    done = [plan for plan in plans if plan.end <= deadline]
    return max(done, key=lambda plan: plan.parameters, default=None)


def within(plans: tuple[SizedPlan, ...], budget: Money) -> SizedPlan | None:
    """Return the plan that is done first for so much money."""
    paid = [plan for plan in plans if plan.cost <= budget]
    return min(paid, key=lambda plan: plan.end, default=None)
