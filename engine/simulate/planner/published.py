"""Published plans of a job's model on the machines of the job, beside its best plan."""

from dataclasses import dataclass

from engine.catalog.accelerators import ACCELERATORS
from engine.catalog.published_recipes import Recipe, published_recipes
from engine.core.units import Bytes, Count, Ratio
from engine.run.plan_space import PlanningJob, published_plans
from engine.simulate.planner.evaluate import Candidate, candidate_run, run_candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPlan:
    """A published plan on the GPUs and with the batch of a job.

    Attributes:
        recipe: as it was published.
        machine: of those that it was published for, the nearest: GPU, as a key of the catalog, and
            how many.
        candidate: memory and step here.
        slower: its step over that of the best plan.
        more: bytes of its process beyond those of the best plan.
    """

    recipe: Recipe
    machine: tuple[str, Count]
    candidate: Candidate
    slower: Ratio
    more: Bytes


def published_beside(job: PlanningJob, best: Candidate) -> tuple[PublishedPlan, ...]:
    """Return of each source the plan for the nearest machine, the fastest that stays on the GPU.

    Those of the nearest machine come first; in the precision of the best plan.
    """
    gpu = next((key for key, known in ACCELERATORS.items() if known == job.cluster.gpu), "")
    chosen: dict[str, PublishedPlan] = {}
    if job.training.lora_rank:  # published plans train all parameters
        return ()
    for recipe, plan, training in published_plans(job, published_recipes()):
        if training.precision != best.training.precision:
            continue
        candidate = run_candidate(candidate_run(job, plan, training), job.kept_free)
        beside = PublishedPlan(
            recipe=recipe,
            machine=recipe.nearest(gpu, job.world_size),
            candidate=candidate,
            slower=candidate.step / best.step,
            more=candidate.memory.total - best.memory.total,
        )
        known = chosen.get(recipe.source)
        if known is None or _order(beside, gpu) < _order(known, gpu):
            chosen[recipe.source] = beside
    return tuple(sorted(chosen.values(), key=lambda plan: _order(plan, gpu)))


def _order(plan: PublishedPlan, gpu: str) -> tuple[bool, float, bool, float]:
    beyond = plan.candidate.memory.total > plan.candidate.device
    distance = plan.recipe.distance(gpu, plan.candidate.plan.world_size)
    return (*distance, beyond, plan.candidate.step)
