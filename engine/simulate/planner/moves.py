"""Largest overhead of the best plan, and the gain of changes to the job."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

from engine.catalog.accelerators import ACCELERATORS
from engine.core.slices import Slices, partial_progress
from engine.core.units import Count, Ratio, Seconds, Share
from engine.run.plan_space import PlanningJob, divisors
from engine.simulate.planner.evaluate import Candidate
from engine.simulate.planner.search import search_plans


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLimit:
    """Largest part of a step besides computation.

    Attributes:
        part: the largest, by its name in `StepTime`.
        seconds: it takes.
        share: of the step.
        computing: share of the step that computes.
    """

    part: str
    seconds: Seconds
    share: Share
    computing: Share


def largest_overhead(candidate: Candidate) -> StepLimit:
    """Return the largest part of a step besides computation."""
    parts = {
        field.name: float(getattr(candidate.time, field.name)) for field in fields(candidate.time)
    }
    computing = parts.pop("compute")
    part = max(parts, key=lambda name: parts[name])
    return StepLimit(
        part=part,
        seconds=parts[part],
        share=parts[part] / candidate.step,
        computing=computing / candidate.step,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChange:
    """A change of the job with its best plan near the previous one.

    Attributes:
        key: names the change.
        best: plan of the changed job.
        gain: tokens per second, over those before.
        per_gpu: tokens per second per GPU, likewise.
    """

    key: str
    best: Candidate
    gain: Ratio
    per_gpu: Ratio


def find_job_changes(job: PlanningJob, best: Candidate) -> Slices[tuple[JobChange, ...]]:
    """Return the gains of changes to the job, the largest first.

    For each the plans near the best one are searched: its software, and half to twice each axis.
    """
    changes = []
    changed_jobs = list(_changed_jobs(job))
    for done, (key, changed_job) in enumerate(changed_jobs):
        after = (
            yield from partial_progress(
                search_plans(nearby_job(changed_job, best), 1), done, len(changed_jobs)
            )
        ).best
        if after:
            changes.append(_job_change(key, (job, best), (changed_job, after[0])))
    return tuple(sorted(changes, key=lambda change: -change.gain))


def _job_change(
    key: str, before: tuple[PlanningJob, Candidate], after: tuple[PlanningJob, Candidate]
) -> JobChange:
    rates = [job.training.global_batch_size / candidate.step for job, candidate in (before, after)]
    gain = rates[1] / rates[0]
    return JobChange(
        key=key,
        best=after[1],
        gain=gain,
        per_gpu=gain * before[0].world_size / after[0].world_size,
    )


def _changed_jobs(job: PlanningJob) -> Iterator[tuple[str, PlanningJob]]:
    """Yield changes of the job that a team could make: batch, precision, hardware."""
    training, cluster = job.training, job.cluster
    batch = replace(training, global_batch_size=2 * training.global_batch_size)
    yield "batch", replace(job, training=batch)
    if "fp8" in cluster.gpu.peak and job.precisions == ("bf16",):
        yield "fp8", replace(job, precisions=("fp8",))
    ports = replace(cluster, nic_bandwidth=2 * cluster.nic_bandwidth)
    yield "ports", replace(job, cluster=ports)
    if cluster.gpu.name.startswith("H100 SXM"):
        yield "memory", replace(job, cluster=replace(cluster, gpu=ACCELERATORS["H200-SXM"]))
    yield "gpus", replace(job, world_size=2 * job.world_size)


def nearby_job(job: PlanningJob, candidate: Candidate) -> PlanningJob:
    """Return the job restricted to plans near a candidate: half to twice each axis."""
    return replace(
        job,
        frameworks=(candidate.training.framework,),
        schedules=tuple(sorted({"1f1b", "interleaved", candidate.training.schedule})),
        tensor_parallel=_nearby_sizes(candidate.plan.tensor_parallel),
        pipeline_parallel=_nearby_sizes(candidate.plan.pipeline_parallel),
        context_parallel=_nearby_sizes(candidate.plan.context_parallel),
        expert_parallel=_nearby_sizes(candidate.plan.expert_parallel),
    )


def _nearby_sizes(size: Count) -> tuple[Count, ...]:
    return tuple(n for n in divisors(2 * size) if size / 2 <= n)


def best_by_gpus(job: PlanningJob, counts: tuple[Count, ...]) -> Slices[Mapping[Count, Candidate]]:
    """Return the best plan on each number of GPUs that fits the job."""
    best_plans: dict[Count, Candidate] = {}
    for done, count in enumerate(counts):
        resized = replace(job, world_size=count)
        best = (yield from partial_progress(search_plans(resized, 1), done, len(counts))).best
        if best:
            best_plans[count] = best[0]
    return best_plans
