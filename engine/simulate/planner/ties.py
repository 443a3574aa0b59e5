"""Plans that tie with the best one of a job, by kind."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.core.slices import Slices
from engine.core.units import Count
from engine.run.plan_space import PlanningJob
from engine.simulate.planner.evaluate import Candidate, PlanShape, recipe_candidates
from engine.simulate.planner.kinds import TIE, TiedKind, is_tie, tied_kinds
from engine.simulate.planner.search import search_progress, shape_plans_within, shapes_within


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """Plans that tie with the best plan.

    Attributes:
        kinds: of plans that fit and tie with the best, the best's among them, the simplest first.
    """

    kinds: tuple[TiedKind, ...]

    @property
    def simplest(self) -> Candidate:
        """The simplest plan of all."""
        return self.kinds[0].simplest

    @property
    def plans(self) -> Count:
        """Number of plans of all kinds."""
        return sum(kind.plans for kind in self.kinds)


def find_ties(job: PlanningJob, best: Candidate, shapes: list[PlanShape]) -> Slices[Tie]:
    """Return the ties with the best plan of a job; `shapes` in the order of their bounds."""
    limit = best.step * TIE
    reached = shapes_within(limit, shapes)
    tied = list(_tied_recipes(job, best))
    seen = {(plan.plan, plan.training) for plan in tied}
    for done, shape in enumerate(reached):
        yield search_progress(done, len(reached), "{done} of {all} splits looked at")
        plans = shape_plans_within(job, limit, shape)
        tied += [plan for plan in plans if (plan.plan, plan.training) not in seen]
    return Tie(kinds=tied_kinds(tied))


def _tied_recipes(job: PlanningJob, best: Candidate) -> Iterator[Candidate]:
    return (plan for plan in recipe_candidates(job) if is_tie(plan.step, best.step))
