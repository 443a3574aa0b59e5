"""Sensitivity of the step time to each hardware part, by running the cost model again."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log

from engine.core.units import Ratio, Seconds, Share
from engine.run.run import Run
from engine.simulate.step.step_time import step_time

Change = Callable[[Run, Ratio], Run]


def step_seconds(run: Run) -> Seconds:
    """Return the step time of a run."""
    return step_time(run.model, run.cluster, run.plan, run.training).total


def _scaled_gpu(name: str) -> Change:
    def change(run: Run, factor: Ratio) -> Run:
        gpu = replace(run.cluster.gpu, **{name: getattr(run.cluster.gpu, name) * factor})
        return replace(run, cluster=replace(run.cluster, gpu=gpu))

    return change


def faster_peak(run: Run, factor: Ratio) -> Run:
    """Return the run with the GPU's peak FLOP rate multiplied by a factor."""
    peak = {key: rate * factor for key, rate in run.cluster.gpu.peak.items()}
    return replace(run, cluster=replace(run.cluster, gpu=replace(run.cluster.gpu, peak=peak)))


def faster_ports(run: Run, factor: Ratio) -> Run:
    """Return the run with the network bandwidth multiplied by a factor."""
    port = run.cluster.nic_bandwidth * factor
    return replace(run, cluster=replace(run.cluster, nic_bandwidth=port))


faster_memory = _scaled_gpu("memory_bandwidth")
faster_links = _scaled_gpu("scale_up")
MACHINE_CHANGES: Mapping[str, Change] = {
    "peak": faster_peak,
    "memory": faster_memory,
    "links": faster_links,
    "network": faster_ports,
}


def step_gain(run: Run, change: Change, increase: Share) -> Share:
    """Return the relative speed-up of a step from a relative increase of one hardware part."""
    return step_seconds(run) / step_seconds(change(run, 1 + increase)) - 1


def gpu_count_gain(run: Run, doubled: Run, increase: Share) -> Share:
    """Return the relative speed-up of a step from a relative increase in GPUs at the same batch.

    `doubled`: the run on twice as many GPUs, since a little more does not divide: the exponent
    between the two holds for the part. Where each replica has a single sequence already, the batch
    cannot be shared among more, and `doubled` has a larger one: more GPUs gain nothing.
    """
    if doubled.training.global_batch_size > 1.5 * run.training.global_batch_size:
        return 0.0
    steps = run.training.global_batch_size / doubled.training.global_batch_size
    exponent = log(step_seconds(run) / (step_seconds(doubled) * steps)) / log(
        doubled.plan.world_size / run.plan.world_size
    )
    return float((1 + increase) ** exponent) - 1
