"""A plan mapped to nodes: rank mesh, traffic of each axis, and step time of the rank order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

from engine.core.units import Bytes, Count, Seconds
from engine.run.parallelism import Plan
from engine.run.run import Run
from engine.simulate.layer.device_model import (
    Axis,
    RankGroup,
    RankRates,
    rank_group,
    rank_rates,
    stage_hops,
)
from engine.simulate.step.axis_loads import axis_loads
from engine.simulate.step.map_traffic import TRAFFIC_AXES, AxisTraffic, plan_traffic
from engine.simulate.step.prediction_evidence import Evidence, evidence
from engine.simulate.step.rank_map import AXES, Mesh, group_placement
from engine.simulate.step.step_time import StepTime, step_time

Order = tuple[Axis, ...]
# The axes whose ranks share a model; the rest of the waiting is that of data parallelism.
_MODEL: Order = ("tensor", "context", "expert", "pipeline")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedMapping:
    """A rank order with its step time."""

    step: StepTime

    def exposed(self, axis: Axis) -> Seconds:
        """Return the exposed communication of an axis."""
        return {
            "tensor": self.step.tensor_parallel,
            "context": self.step.context_parallel,
            "expert": self.step.expert_parallel,
            "data": self.step.data_parallel,
            "pipeline": self.step.pipeline,
        }[axis]


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisSwap(TimedMapping):
    """The same plan with two axes of the order swapped.

    Attributes:
        first, second: the axes.
        order: that results, innermost first.
    """

    first: Axis
    second: Axis
    order: Order


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedPlan(TimedMapping):
    """A plan mapped to the GPUs of its nodes.

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
    traffic: Mapping[Axis, AxisTraffic]
    wires: Mapping[Axis, RankGroup]
    alone: Mapping[str, Seconds]
    swaps: tuple[AxisSwap, ...]
    evidence: Evidence

    @property
    def total_exposed(self) -> Seconds:
        """Exposed communication of all axes."""
        return self.step.data_parallel + sum(map(self.exposed, _MODEL))

    @property
    def bytes_leaving_node(self) -> Bytes:
        """Mean bytes per GPU and step that leave the node."""
        return sum(axis.sent * axis.across for axis in self.traffic.values())

    def size(self, axis: Axis) -> Count:
        """Return the ranks of an axis, experts included."""
        return self.mesh.expert if axis == "expert" else self.mesh.sizes[axis]


def mapped_plan(run: Run, order: Order) -> MappedPlan:
    """Return the plan of a run mapped with a rank order, innermost axis first."""
    mesh = _mesh_of(run.plan, order, run.cluster.gpus_per_node)
    traffic_by_axis = plan_traffic(run.model, run.plan, run.training, mesh)
    placement = group_placement(mesh)
    # Gradients also go around the ranks that share a sequence.
    gradients = mesh.sizes["data"] * mesh.sizes["context"]
    ranks = {**mesh.sizes, "expert": mesh.expert, "data": gradients}
    step = _mapped_step_time(run, placement)
    loads = axis_loads(run, _placed_rank(run, placement), step, step.compute)
    return MappedPlan(
        run=run,
        mesh=mesh,
        traffic={
            axis: axis_traffic for axis, axis_traffic in traffic_by_axis.items() if ranks[axis] > 1
        },
        wires={axis: _axis_link(run, placement, axis) for axis in TRAFFIC_AXES},
        alone={load.key: load.alone for load in loads},
        step=step,
        swaps=_swaps(run, mesh),
        evidence=evidence(run),
    )


# The groups that a mesh has found are kept with it.
@lru_cache(maxsize=32)
def _mesh_of(plan: Plan, order: Order, gpus_per_node: Count) -> Mesh:
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


def _mapped_step_time(run: Run, placement: Mapping[Axis, Count]) -> StepTime:
    return step_time(run.model, run.cluster, run.plan, run.training, placed=placement)


def _placed_rank(run: Run, placement: Mapping[Axis, Count]) -> RankRates:
    return replace(rank_rates(run.cluster, run.training), placed=placement)


def _axis_link(run: Run, placement: Mapping[Axis, Count], axis: Axis) -> RankGroup:
    rank, plan = _placed_rank(run, placement), run.plan
    if axis == "pipeline":
        return stage_hops(rank, plan).slowest
    ranks = {
        "tensor": plan.tensor_parallel,
        "context": plan.context_parallel,
        "expert": plan.expert_parallel,
        "data": plan.data_parallel * plan.context_parallel,
    }[axis]
    return rank_group(rank, ranks, 1, axis)


def _swaps(run: Run, mesh: Mesh) -> tuple[AxisSwap, ...]:
    active = [axis for axis in AXES if mesh.sizes[axis] > 1]
    swaps = []
    for first, second in combinations(active, 2):
        change = {first: second, second: first}
        order = tuple(change.get(axis, axis) for axis in mesh.order)
        mesh_swapped = _mesh_of(run.plan, order, mesh.gpus_per_node)
        swaps.append(
            AxisSwap(
                first=first,
                second=second,
                order=order,
                step=_mapped_step_time(run, group_placement(mesh_swapped)),
            )
        )
    return tuple(swaps)
