"""What limits the best plan, and what a change of the job itself would gain."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

from engine.catalog.accelerators import ACCELERATORS
from engine.core.slices import Slices, part
from engine.core.units import Count, Ratio, Seconds, Share
from engine.run.plan_space import Job, divisors
from engine.simulate.planner.evaluate import Candidate
from engine.simulate.planner.search import searching


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What of a step is no computation.

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


def limit(one: Candidate) -> Limit:
    """Return the largest part of a step beside computation."""
    parts = {field.name: float(getattr(one.time, field.name)) for field in fields(one.time)}
    computing = parts.pop("compute")
    part = max(parts, key=lambda name: parts[name])
    return Limit(
        part=part,
        seconds=parts[part],
        share=parts[part] / one.step,
        computing=computing / one.step,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A change of the job, and its best plan near the one before.

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


def moves(job: Job, best: Candidate) -> Slices[tuple[Move, ...]]:
    """Find what changes of the job would gain, the largest gain first.

    For each the plans near the best one are searched: its software, and half to twice each axis.
    """
    found = []
    every = list(_changed(job))
    for done, (key, other) in enumerate(every):
        after = (yield from part(searching(near(other, best), 1), done, len(every))).best
        if after:
            found.append(_move(key, (job, best), (other, after[0])))
    return tuple(sorted(found, key=lambda one: -one.gain))


def _move(key: str, before: tuple[Job, Candidate], after: tuple[Job, Candidate]) -> Move:
    rates = [job.training.global_batch_size / one.step for job, one in (before, after)]
    gain = rates[1] / rates[0]
    return Move(
        key=key,
        best=after[1],
        gain=gain,
        per_gpu=gain * before[0].world_size / after[0].world_size,
    )


def _changed(job: Job) -> Iterator[tuple[str, Job]]:
    """Yield the changes that a team could make: a batch, a precision, machines."""
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


def near(job: Job, one: Candidate) -> Job:
    """Return a job whose plans are near one: its software, half to twice of each axis."""
    return replace(
        job,
        frameworks=(one.training.framework,),
        schedules=tuple(sorted({"1f1b", "interleaved", one.training.schedule})),
        tensor_parallel=_around(one.plan.tensor_parallel),
        pipeline_parallel=_around(one.plan.pipeline_parallel),
        context_parallel=_around(one.plan.context_parallel),
        expert_parallel=_around(one.plan.expert_parallel),
    )


def _around(size: Count) -> tuple[Count, ...]:
    return tuple(n for n in divisors(2 * size) if size / 2 <= n)


def by_gpus(job: Job, counts: tuple[Count, ...]) -> Slices[Mapping[Count, Candidate]]:
    """Find the best plan on each number of GPUs that holds the job."""
    found: dict[Count, Candidate] = {}
    for done, count in enumerate(counts):
        one = replace(job, world_size=count)
        best = (yield from part(searching(one, 1), done, len(counts))).best
        if best:
            found[count] = best[0]
    return found
