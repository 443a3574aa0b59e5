"""What a little more of each part of the machine gives: the cost model run again with it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import log

from engine.core.units import Ratio, Seconds, Share
from engine.run.run import Run
from engine.simulate.step.step_time import step_time

Change = Callable[[Run, Ratio], Run]


def run_step(run: Run) -> Seconds:
    """Return the step of a run."""
    return step_time(run.model, run.cluster, run.plan, run.training).total


def _more(name: str) -> Change:
    def change(run: Run, factor: Ratio) -> Run:
        gpu = replace(run.cluster.gpu, **{name: getattr(run.cluster.gpu, name) * factor})
        return replace(run, cluster=replace(run.cluster, gpu=gpu))

    return change


def faster_peak(run: Run, factor: Ratio) -> Run:
    """Return the run on a GPU whose matrix units are so many times as fast."""
    peak = {key: rate * factor for key, rate in run.cluster.gpu.peak.items()}
    return replace(run, cluster=replace(run.cluster, gpu=replace(run.cluster.gpu, peak=peak)))


def faster_ports(run: Run, factor: Ratio) -> Run:
    """Return the run on network ports that are so many times as fast."""
    port = run.cluster.nic_bandwidth * factor
    return replace(run, cluster=replace(run.cluster, nic_bandwidth=port))


faster_memory = _more("memory_bandwidth")
faster_links = _more("scale_up")
PARTS: Mapping[str, Change] = {
    "peak": faster_peak,
    "memory": faster_memory,
    "links": faster_links,
    "network": faster_ports,
}


def gain_of(run: Run, change: Change, more: Share) -> Share:
    """Return how much faster a step gets with so much more of one part of the machine."""
    return run_step(run) / run_step(change(run, 1 + more)) - 1


def gain_of_gpus(run: Run, twice: Run, more: Share) -> Share:
    """Return how much faster the step gets with so many more GPUs and the same batch.

    `twice`: the run on twice as many GPUs, since a little more does not divide: the exponent
    between the two holds for the part. Where each replica has a single sequence already, the batch
    cannot be shared among more, and `twice` has a larger one: more GPUs gain nothing.
    """
    if twice.training.global_batch_size > 1.5 * run.training.global_batch_size:
        return 0.0
    steps = run.training.global_batch_size / twice.training.global_batch_size
    exponent = log(run_step(run) / (run_step(twice) * steps)) / log(
        twice.plan.world_size / run.plan.world_size
    )
    return float((1 + more) ** exponent) - 1
