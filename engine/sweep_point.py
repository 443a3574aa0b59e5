"""One point of a sweep: rows with the best plan of a job, one per price."""

from typing import Any

from engine.core.units import DAY, HOUR
from engine.form.memory_fit import tight_mark
from engine.form.planner.plan_text import plan_name
from engine.run.plan_space import PlanningJob
from engine.run.sweep_grid import SweepPoint, planner_request
from engine.simulate.memory.allocator import reported_bytes
from engine.simulate.planner.evaluate import Candidate, candidate_run
from engine.simulate.planner.search import fastest_plans
from engine.simulate.step.step_range import step_range

_PLAN = (
    "tensor_parallel",
    "pipeline_parallel",
    "virtual_pipeline",
    "context_parallel",
    "expert_parallel",
    "expert_tensor_parallel",
    "zero_stage",
    "shard_group",
)
_TRAINING = ("framework", "precision", "micro_batch_size", "recompute", "schedule")
_COLUMNS = (
    *("plan", "step_time", "step_time_low", "step_time_high", "tokens_per_second_per_gpu"),
    *("peak_memory", "days", *_PLAN, "data_parallel", *_TRAINING),
)


def point_rows(point: SweepPoint) -> list[dict[str, Any]]:
    """Return the rows of a point in SI units, except days and prices per hour."""
    job = planner_request(point).job
    search = fastest_plans(job, 1)
    plan: dict[str, Any] = dict.fromkeys(_COLUMNS)
    if search.best:
        plan |= _plan_columns(job, search.best[0], point.request["tokens"])
    days = plan["days"]
    return [
        _job_columns(job, point)
        | {"price": price * HOUR}
        | plan
        | {"cost": None if days is None else days * DAY * price * job.world_size}
        for price in point.prices
    ]


def _job_columns(job: PlanningJob, point: SweepPoint) -> dict[str, Any]:
    return {
        "model": job.model.name,
        "cluster": point.cluster,
        "gpu": job.cluster.gpu.name,
        "world_size": job.world_size,
        "gpus_per_node": job.cluster.gpus_per_node,
        "nics_per_node": job.cluster.nics_per_node,
        "nic_bandwidth": job.cluster.nic_bandwidth,
        "sequence_length": job.training.sequence_length,
        "global_batch_size": job.training.global_batch_size,
        "tokens": point.request["tokens"],
        "kept_free": job.kept_free,
    }


def _plan_columns(job: PlanningJob, best: Candidate, tokens: int) -> dict[str, Any]:
    batch = job.training.global_batch_size * job.training.sequence_length
    low, high, _ = step_range(candidate_run(job, best.plan, best.training), best.step)
    return {
        "plan": plan_name(best.plan, best.training) + tight_mark(best.fit),
        "step_time": best.step,
        "step_time_low": low,
        "step_time_high": high,
        "tokens_per_second_per_gpu": batch / best.step / job.world_size,
        "peak_memory": reported_bytes(best.memory, best.training),
        "days": tokens / batch * best.step / DAY,
        **{key: getattr(best.plan, key) for key in _PLAN},
        "data_parallel": best.plan.data_parallel,
        **{key: getattr(best.training, key) for key in _TRAINING},
    }
