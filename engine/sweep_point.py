"""One point of a sweep: the best plan of a job, as rows of a table, one for each price."""

from typing import Any

from engine.basis.units import DAY, HOUR
from engine.form.planner.words import name
from engine.run.sweep_grid import Point, asked
from engine.simulate.planner.evaluate import run_of
from engine.simulate.planner.search import fastest
from engine.simulate.step_range import step_range


def rows(point: Point) -> list[dict[str, Any]]:
    """Return the rows of a point, in SI units but for days, and prices for an hour."""
    job = asked(point).job
    found = fastest(job, 1)
    tokens = job.training.global_batch_size * job.training.sequence_length
    about = {
        "model": job.model.name,
        "cluster": point.cluster,
        "gpu": job.cluster.gpu.name,
        "world_size": job.world_size,
        "sequence_length": job.training.sequence_length,
        "global_batch_size": job.training.global_batch_size,
    }
    plan: dict[str, Any] = dict.fromkeys(
        ("plan", "step_time", "step_time_low", "step_time_high", "tokens_per_second_per_gpu")
    ) | {"peak_memory": None, "days": None}
    if found.best:
        best = found.best[0]
        low, high, _ = step_range(run_of(job, best.plan, best.training), best.step)
        plan = {
            "plan": name(best.plan, best.training),
            "step_time": best.step,
            "step_time_low": low,
            "step_time_high": high,
            "tokens_per_second_per_gpu": tokens / best.step / job.world_size,
            "peak_memory": best.held.total,
            "days": point.request["tokens"] / tokens * best.step / DAY,
        }
    days = plan["days"]
    return [
        about
        | {"price": price * HOUR}
        | plan
        | {"cost": None if days is None else days * DAY * price * job.world_size}
        for price in point.prices
    ]
