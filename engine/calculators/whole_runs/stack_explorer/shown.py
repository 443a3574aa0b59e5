"""The drawn part of the job: some GPUs with their groups, and a simulated stage."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from engine.calculators.whole_runs.stack_explorer.inputs import Inputs
from engine.core.slices import Slices, step_progress
from engine.core.units import Count
from engine.run.run import Run
from engine.simulate.layer.device_model import Axis
from engine.simulate.overlap.schedule_step import ScheduleOutcome, schedule_outcome
from engine.simulate.step.map_traffic import TRAFFIC_AXES
from engine.simulate.step.rank_map import Mesh

_DRAWN: Count = 256  # GPUs on the map, at most
_ORDER: tuple[Axis, ...] = ("tensor", "context", "data", "pipeline")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """The GPUs that are drawn.

    Attributes:
        mesh: they.
        firsts: of each of them, the first GPU of its group along each axis that has several.
        sizes: of all axes of the whole job.
        world_size: all GPUs.
    """

    mesh: Mesh
    firsts: tuple[Mapping[Axis, Count], ...]
    sizes: Mapping[Axis, Count]
    world_size: Count


def part_of(run: Run) -> Part:
    """Return the GPUs of a run by node, a part of them if the job is large."""
    plan = run.plan
    whole: dict[Axis, Count] = {
        "tensor": plan.tensor_parallel,
        "context": plan.context_parallel,
        "data": plan.data_parallel,
        "pipeline": plan.pipeline_parallel,
    }
    sizes = _drawn_sizes(whole)
    stage = sizes["tensor"] * sizes["context"] * sizes["data"]
    mesh = Mesh(
        sizes=sizes,
        order=_ORDER,
        expert=plan.expert_parallel if stage % plan.expert_parallel == 0 else 1,
        gpus_per_node=run.cluster.gpus_per_node,
    )
    ranks = {**sizes, "expert": mesh.expert}
    shown = [axis for axis in TRAFFIC_AXES if ranks[axis] > 1]
    return Part(
        mesh=mesh,
        firsts=tuple(
            {axis: mesh.group(axis, rank)[0] for axis in shown} for rank in range(mesh.world_size)
        ),
        sizes={**whole, "expert": plan.expert_parallel},
        world_size=plan.world_size,
    )


def _drawn_sizes(sizes: Mapping[Axis, Count]) -> dict[Axis, Count]:
    """Return reduced axis sizes to draw: fewer replicas first, then fewer stages."""
    left = dict(sizes)
    order: tuple[Axis, ...] = ("data", "pipeline", "context", "tensor")
    for axis in order:
        while prod(left.values()) > _DRAWN and left[axis] > 2:
            left[axis] = -(-left[axis] // 2)
    return left


def play_stage(inputs: Inputs, run: Run) -> Slices[ScheduleOutcome]:
    """Return the job under the chosen schedule, and its first micro-batches."""
    outcome = schedule_outcome(run, inputs.schedule)
    yield step_progress(1, 2)
    return outcome
