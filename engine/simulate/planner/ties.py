"""Plans that tie with the best one of a job, by kind, and lists of plans without near-copies."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engine.core.slices import Slices
from engine.core.units import Count
from engine.run.plan_space import PlanningJob
from engine.simulate.planner.evaluate import Candidate, PlanShape, recipe_candidates
from engine.simulate.planner.kinds import TIE, Kind, is_tie, kind_of, simplicity
from engine.simulate.planner.search import search_progress, shape_plans_within, shapes_within

# In which plans of one kind may differ, by the keys of a run file.
VARIANTS = ("virtual_pipeline", "micro_batch_size", "recompute", "zero_stage", "shard_group")

Variant = str | Count


def variant_of(candidate: Candidate) -> dict[str, Variant]:
    """Return the settings of a plan in which plans of its kind differ."""
    training = candidate.training
    values = {
        name: getattr(training if hasattr(training, name) else candidate.plan, name)
        for name in VARIANTS
    }
    if training.recompute_modules:
        values["recompute"] = ", ".join(training.recompute_modules)
    return values


@dataclass(slots=True, kw_only=True)
class TiedKind:
    """The plans of one kind that tie with the best plan of a job.

    Attributes:
        simplest: of them.
        plans: how many they are.
        values: of each setting in which they may differ.
    """

    simplest: Candidate
    plans: Count = 0
    values: dict[str, set[Variant]] = field(default_factory=dict)

    def add(self, candidate: Candidate) -> None:
        """Count a plan of the kind."""
        self.plans += 1
        if simplicity(candidate) < simplicity(self.simplest):
            self.simplest = candidate
        for name, value in variant_of(candidate).items():
            self.values.setdefault(name, set()).add(value)

    def others(self, shown: Candidate) -> Mapping[str, tuple[Variant, ...]]:
        """Return the values that other plans of the kind have, by setting."""
        own = variant_of(shown)
        left = {name: values - {own[name]} for name, values in self.values.items()}
        return {name: tuple(sorted(values, key=_value_order)) for name, values in left.items()}


def _value_order(value: Variant) -> tuple[bool, Count, str]:
    return isinstance(value, str), 0 if isinstance(value, str) else value, str(value)


def tied_kinds(tied: Iterable[Candidate]) -> tuple[TiedKind, ...]:
    """Return the kinds of plans that tie with the best, the simplest first."""
    kinds: dict[Kind, TiedKind] = {}
    for candidate in tied:
        kinds.setdefault(kind_of(candidate), TiedKind(simplest=candidate)).add(candidate)
    return tuple(sorted(kinds.values(), key=lambda kind: simplicity(kind.simplest)))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPlan:
    """A plan of a list without near-copies.

    Attributes:
        candidate: the plan.
        tied: whether it ties with the best.
        others: what other plans of its kind have that tie too, by setting.
    """

    candidate: Candidate
    tied: bool
    others: Mapping[str, tuple[Variant, ...]]


def listed_plans(
    best: Sequence[Candidate], kinds: Sequence[TiedKind], count: Count
) -> tuple[ListedPlan, ...]:
    """Return at most `count` plans, one of each kind.

    The fastest, then those that tie with it, the simplest first, then slower ones.

    Args:
        best: the fastest plan of each of some kinds, the fastest first.
        kinds: that tie, the simplest first.
        count: of plans to list.
    """
    of_best = kind_of(best[0]) if best else None
    tied = sorted(kinds, key=lambda kind: kind_of(kind.simplest) != of_best)
    known = {kind_of(kind.simplest) for kind in tied}
    listed = []
    for kind in tied:
        shown = best[0] if kind_of(kind.simplest) == of_best else kind.simplest
        listed.append(ListedPlan(candidate=shown, tied=True, others=kind.others(shown)))
    slower = [plan for plan in best if kind_of(plan) not in known]
    listed += [ListedPlan(candidate=plan, tied=False, others={}) for plan in slower]
    return tuple(listed[:count])
