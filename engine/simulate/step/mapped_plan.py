"""A plan on its machines: the mesh of ranks, what each axis moves, and the step in that order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

from engine.core.units import Bytes, Count, Seconds
from engine.run.parallelism import Plan
from engine.run.run import Run
from engine.simulate.layer.device_model import Axis, Group, Rank, group_of, rank_of, stage_hops
from engine.simulate.step.axis_loads import axis_loads
from engine.simulate.step.map_traffic import SHOWN, Traffic, traffic
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.rank_map import AXES, Mesh, placed
from engine.simulate.step.step_time import StepTime, step_time

Order = tuple[Axis, ...]
# The axes whose ranks share a model; the rest of the waiting is that of data parallelism.
_MODEL: Order = ("tensor", "context", "expert", "pipeline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stepped:
    """What has a step."""

    step: StepTime

    def exposed(self, axis: Axis) -> Seconds:
        """Return what the step waits for an axis."""
        return {
            "tensor": self.step.tensor_parallel,
            "context": self.step.context_parallel,
            "expert": self.step.expert_parallel,
            "data": self.step.data_parallel,
            "pipeline": self.step.pipeline,
        }[axis]


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap(Stepped):
    """The same plan with two axes of the order swapped.

    Attributes:
        first, second: the axes.
        order: that results, innermost first.
    """

    first: Axis
    second: Axis
    order: Order


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedPlan(Stepped):
    """A plan, laid on its machines.

    Attributes:
        run: model, cluster, plan and training.
        mesh: the ranks.
        traffic: by axis, of those with more than one rank.
        wires: the link each axis uses, by axis.
        alone: what each axis takes with nothing beside it, by axis.
        swaps: of every two axes that have ranks, in the order of the axes.
        evidence: on which its step rests.
    """

    run: Run
    mesh: Mesh
    traffic: Mapping[Axis, Traffic]
    wires: Mapping[Axis, Group]
    alone: Mapping[str, Seconds]
    swaps: tuple[Swap, ...]
    evidence: Evidence

    @property
    def waits(self) -> Seconds:
        """What the step waits for communication, all axes."""
        return self.step.data_parallel + sum(map(self.exposed, _MODEL))

    @property
    def leaving(self) -> Bytes:
        """The bytes that a mean GPU sends out of its node per step."""
        return sum(one.sent * one.across for one in self.traffic.values())

    def size(self, axis: Axis) -> Count:
        """Return the ranks of an axis, experts included."""
        return self.mesh.expert if axis == "expert" else self.mesh.sizes[axis]


def mapped_plan(run: Run, order: Order) -> MappedPlan:
    """Return the plan of a run with its ranks in an order, innermost axis first."""
    mesh = _laid(run.plan, order, run.cluster.gpus_per_node)
    found = traffic(run.model, run.plan, run.training, mesh)
    where = placed(mesh)
    # Gradients also go around the ranks that share a sequence.
    gradients = mesh.sizes["data"] * mesh.sizes["context"]
    ranks = {**mesh.sizes, "expert": mesh.expert, "data": gradients}
    step = _step(run, where)
    loads = axis_loads(run, _rank(run, where), step, step.compute)
    return MappedPlan(
        run=run,
        mesh=mesh,
        traffic={axis: one for axis, one in found.items() if ranks[axis] > 1},
        wires={axis: _wire(run, where, axis) for axis in SHOWN},
        alone={load.key: load.alone for load in loads},
        step=step,
        swaps=_swaps(run, mesh),
        evidence=evidence(run),
    )


# The groups that a mesh has found are kept with it.
@lru_cache(maxsize=32)
def _laid(plan: Plan, order: Order, gpus_per_node: Count) -> Mesh:
    return Mesh(
        sizes={
            "tensor": plan.tensor_parallel,
            "context": plan.context_parallel,
            "data": plan.data_parallel,
            "pipeline": plan.pipeline_parallel,
        },
        order=order,
        expert=plan.expert_parallel,
        gpus_per_node=gpus_per_node,
    )


def _step(run: Run, where: Mapping[Axis, Count]) -> StepTime:
    return step_time(run.model, run.cluster, run.plan, run.training, placed=where)


def _rank(run: Run, where: Mapping[Axis, Count]) -> Rank:
    return replace(rank_of(run.cluster, run.training), placed=where)


def _wire(run: Run, where: Mapping[Axis, Count], axis: Axis) -> Group:
    rank, plan = _rank(run, where), run.plan
    if axis == "pipeline":
        return stage_hops(rank, plan).slowest
    ranks = {
        "tensor": plan.tensor_parallel,
        "context": plan.context_parallel,
        "expert": plan.expert_parallel,
        "data": plan.data_parallel * plan.context_parallel,
    }[axis]
    return group_of(rank, ranks, 1, axis)


def _swaps(run: Run, mesh: Mesh) -> tuple[Swap, ...]:
    active = [axis for axis in AXES if mesh.sizes[axis] > 1]
    found = []
    for first, second in combinations(active, 2):
        change = {first: second, second: first}
        order = tuple(change.get(axis, axis) for axis in mesh.order)
        other = _laid(run.plan, order, mesh.gpus_per_node)
        found.append(Swap(first=first, second=second, order=order, step=_step(run, placed(other))))
    return tuple(found)
