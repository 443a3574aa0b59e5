"""What of the job is drawn: a part of its GPUs with their groups, a stage as it is played."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from engine.calculators.whole_runs.stack_explorer.inputs import Inputs
from engine.core.slices import Slices, steps_done
from engine.core.units import Count
from engine.run.parallelism import num_microbatches
from engine.run.run import Run
from engine.simulate.layer.device_model import Axis
from engine.simulate.overlap.overlap_job import Job as Played
from engine.simulate.overlap.overlap_job import Setting
from engine.simulate.overlap.overlap_job import job as overlap_job
from engine.simulate.overlap.overlap_step import Outcome, outcome
from engine.simulate.step.map_traffic import SHOWN
from engine.simulate.step.rank_map import Mesh

_DRAWN: Count = 256  # GPUs on the map, at most
_ORDER: tuple[Axis, ...] = ("tensor", "context", "data", "pipeline")
_GPUS = {
    "A100-SXM-80GB": "a100",
    "H100-SXM": "h100",
    "H200-SXM": "h200",
    "B200": "b200",
    "MI300X": "mi300x",
}


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
    """Return the GPUs of a run in their nodes; of a large job a part."""
    plan = run.plan
    whole: dict[Axis, Count] = {
        "tensor": plan.tensor_parallel,
        "context": plan.context_parallel,
        "data": plan.data_parallel,
        "pipeline": plan.pipeline_parallel,
    }
    sizes = _few(whole)
    stage = sizes["tensor"] * sizes["context"] * sizes["data"]
    mesh = Mesh(
        sizes=sizes,
        order=_ORDER,
        expert=plan.expert_parallel if stage % plan.expert_parallel == 0 else 1,
        gpus_per_node=run.cluster.gpus_per_node,
    )
    ranks = {**sizes, "expert": mesh.expert}
    shown = [axis for axis in SHOWN if ranks[axis] > 1]
    return Part(
        mesh=mesh,
        firsts=tuple(
            {axis: mesh.group(axis, rank)[0] for axis in shown} for rank in range(mesh.world_size)
        ),
        sizes={**whole, "expert": plan.expert_parallel},
        world_size=plan.world_size,
    )


def _few(sizes: Mapping[Axis, Count]) -> dict[Axis, Count]:
    """Return sizes whose product is drawn: fewer replicas first, then fewer stages."""
    left = dict(sizes)
    order: tuple[Axis, ...] = ("data", "pipeline", "context", "tensor")
    for axis in order:
        while prod(left.values()) > _DRAWN and left[axis] > 2:
            left[axis] = -(-left[axis] // 2)
    return left


@lru_cache(maxsize=4)
def _played(schedule: str, asked: Setting) -> tuple[Played, Outcome]:
    work = overlap_job(asked)
    return work, outcome(asked, work, schedule)


def playing(inputs: Inputs, run: Run) -> Slices[tuple[Played, Outcome]]:
    """Play two micro-batches of a stage under the reader's schedule, before they are drawn."""
    plan, training = run.plan, run.training
    tokens = training.micro_batch_size * training.sequence_length // plan.context_parallel
    asked = Setting(
        model=inputs.model,
        gpu=_GPUS[inputs.gpu],
        tensor_parallel=plan.tensor_parallel,
        pipeline_parallel=plan.pipeline_parallel,
        data_parallel=plan.data_parallel * plan.context_parallel,
        num_microbatches=num_microbatches(plan, training),
        tokens=max(1, tokens),
        port=inputs.nic_bandwidth * inputs.nics_per_node / run.cluster.gpus_per_node,
    )
    found = _played(inputs.schedule, asked)
    yield steps_done(1, 2)
    return found
