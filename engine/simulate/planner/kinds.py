"""Kinds of plans: which count as one, which tie with the best, and which of a tie is simplest.

One rule for page, terminal, Python and sweep. Plans that split layers, sequences and experts over
the same ranks of one software are one kind, whatever their micro-batch, virtual stages,
recomputation or stage of sharding. Two plans tie whose predicted steps differ by less than the
ratio of published pairs is predicted wrongly.
"""

import math
from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from engine.catalog.gain_errors import GAIN_ERROR
from engine.core.units import Bytes, Count, Ratio, Seconds
from engine.simulate.planner.evaluate import Candidate

# A plan up to so many times as slow as another ties with it: four in five pairs of published runs
# have a ratio of speeds within it of the predicted one.
TIE: Ratio = math.exp(GAIN_ERROR)
# In which plans of one kind may differ, by the keys of a run file.
VARIANTS = ("virtual_pipeline", "micro_batch_size", "recompute", "zero_stage", "shard_group")
# From the fewest switches to the most.
_RECOMPUTED = ("none", "selective", "full", "modules")

Kind = tuple[str, str, Count, Count, Count, Count, Count, bool]
Variant = str | Count


def kind_of(candidate: Candidate) -> Kind:
    """Return what plans of one kind have in common: software, precision, ranks of each axis.

    And whether a software that need not do so shards parameters too, as Megatron-FSDP does.
    """
    plan, training = candidate.plan, candidate.training
    return (
        training.framework,
        training.precision,
        plan.tensor_parallel,
        plan.pipeline_parallel,
        plan.context_parallel,
        plan.expert_parallel,
        plan.expert_tensor_parallel,
        training.framework != "fsdp" and plan.zero_stage == 3,
    )


def plan_order(candidate: Candidate) -> tuple[Seconds, Count, Bytes]:
    """Return the sort key of a plan: step time, number of axes, memory."""
    return candidate.step, candidate.axes, candidate.memory.total


def simplicity(candidate: Candidate) -> tuple[bool, Count, Count, Count, bool, Seconds]:
    """Return the sort key of the plans of a tie, the simplest first.

    Those that are not tight; then fewer kinds of parallelism, fewer virtual stages, less
    recomputation, replicas that shard as one group; then the shorter step.
    """
    plan, training = candidate.plan, candidate.training
    return (
        candidate.fit.verdict != "fits",
        candidate.axes,
        plan.virtual_pipeline,
        _RECOMPUTED.index(training.recompute),
        plan.shard_group > 0,
        candidate.step,
    )


def is_tie(step: Seconds, best: Seconds) -> bool:
    """Return whether predictions are too coarse to tell a plan from the best one."""
    return step <= best * TIE


def keep_fastest(best: list[Candidate], candidate: Candidate, count: Count) -> None:
    """Insert a plan among the fastest of `count` kinds, one of each, the fastest first."""
    kind = kind_of(candidate)
    same = next((place for place, plan in enumerate(best) if kind_of(plan) == kind), None)
    if same is not None:
        if plan_order(best[same]) <= plan_order(candidate):
            return
        del best[same]
    insort(best, candidate, key=plan_order)
    del best[count:]


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
