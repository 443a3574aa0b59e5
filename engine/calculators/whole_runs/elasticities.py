"""Elasticities: what ten percent more of each part of the machine gives, and what it may cost."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log
from typing import Annotated

from engine.basis.inputs import PERCENT, Choice, Number
from engine.basis.text import say
from engine.basis.units import SHARE, Ratio, Seconds, Share
from engine.basis.views import Axis, Badge, Bar, Bars, Receipt, Segment, Value, View
from engine.form.levers.inputs import GPU_NAMES, MODEL_NAMES, as_run
from engine.form.levers.inputs import Inputs as Job
from engine.run.file import Run
from engine.simulate.step_time import step_time

TITLE = "Which part matters most"
QUESTION = "What does a little more of each part of the machine give?"


def _more(name: str) -> Callable[[Run, Ratio], Run]:
    def change(run: Run, factor: Ratio) -> Run:
        gpu = replace(run.cluster.gpu, **{name: getattr(run.cluster.gpu, name) * factor})
        return replace(run, cluster=replace(run.cluster, gpu=gpu))

    return change


def _peak(run: Run, factor: Ratio) -> Run:
    peak = {key: rate * factor for key, rate in run.cluster.gpu.peak.items()}
    return replace(run, cluster=replace(run.cluster, gpu=replace(run.cluster.gpu, peak=peak)))


def _network(run: Run, factor: Ratio) -> Run:
    port = run.cluster.nic_bandwidth * factor
    return replace(run, cluster=replace(run.cluster, nic_bandwidth=port))


PARTS: dict[str, tuple[str, str, Callable[[Run, Ratio], Run]]] = {
    "peak": ("peak of the matrix units", "compute", _peak),
    "memory": ("bandwidth of the memory", "memory", _more("memory_bandwidth")),
    "links": ("links inside the node", "communication", _more("scale_up")),
    "network": ("network ports", "communication", _network),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The job, by its preset model, and how much more."""

    model: Annotated[str, Choice(label="Model", options=MODEL_NAMES)] = "llama-3-70b"
    gpu: Annotated[str, Choice(label="GPU", options=GPU_NAMES)] = "H100-SXM"
    world_size: Annotated[
        int, Number(label="GPUs", low=8, high=65_536, whole=True, scale="log2")
    ] = 256
    tensor_parallel: Annotated[
        int, Number(label="Tensor parallel", low=1, high=64, whole=True, scale="log2")
    ] = 8
    pipeline_parallel: Annotated[
        int, Number(label="Pipeline parallel", low=1, high=64, whole=True, scale="log2")
    ] = 4
    more: Annotated[float, Number(label="More by", unit=PERCENT, low=0.01, high=1.0, step=0.01)] = (
        0.1
    )


def compute(inputs: Inputs) -> dict[str, View]:
    """Return what each part gives, and which gives most."""
    job = replace(
        Job(),
        model=inputs.model,
        gpu=inputs.gpu,
        world_size=inputs.world_size,
        tensor_parallel=inputs.tensor_parallel,
        pipeline_parallel=inputs.pipeline_parallel,
    )
    run, _ = as_run(job)
    now = _time(run)
    gpus = _more_gpus(job, run, now, inputs.more)
    gains = {
        key: now / _time(change(run, 1 + inputs.more)) - 1 for key, (_, _, change) in PARTS.items()
    }
    best = max(gains, key=lambda key: gains[key])
    receipt = Receipt(assumptions=("The cost model, run again with that part of the machine.",))
    return {
        "verdict": Badge(
            text=PARTS[best][0].capitalize(),
            sentence=say(
                "With {more} more of it the step is {gain} faster, the largest gain of the four.",
                more=(inputs.more, SHARE),
                gain=(gains[best], SHARE),
            ),
            color=PARTS[best][1],
        ),
        "bars": _bars(inputs, gains),
        "gpus": Value(
            label="With more GPUs: step faster by",
            value=gpus,
            quantity=SHARE,
            receipt=Receipt(
                assumptions=("From the cost model at twice as many GPUs, as an exponent.",)
            ),
        ),
        "cost": Value(
            label="With more GPUs: run dearer by",
            value=(1 + inputs.more) / (1 + gpus) - 1,
            quantity=SHARE,
            receipt=Receipt(assumptions=("So many more GPUs, for the shorter time.",)),
        ),
        **{
            key: Value(
                label=f"More {label}" if key == "memory" else f"Faster {label}",
                value=gains[key],
                quantity=SHARE,
                receipt=receipt,
                color=color,
            )
            for key, (label, color, _) in PARTS.items()
        },
    }


def _more_gpus(job: Job, run: Run, now: Seconds, more: Share) -> Share:
    """Return how much faster the step gets with so many more GPUs and the same batch.

    Taken from twice as many, since a little more does not divide: the exponent between the two
    holds for the part.
    """
    twice, _ = as_run(replace(job, world_size=2 * run.plan.world_size))
    steps = run.training.global_batch_size / twice.training.global_batch_size
    exponent = log(now / (_time(twice) * steps)) / log(twice.plan.world_size / run.plan.world_size)
    return float((1 + more) ** exponent) - 1


def _time(run: Run) -> float:
    return step_time(run.model, run.cluster, run.plan, run.training).total


def _bars(inputs: Inputs, gains: dict[str, float]) -> Bars:
    return Bars(
        title="What a little more gives",
        axis=Axis(label="step faster by", quantity=SHARE, low=0.0, high=max(0.005, inputs.more)),
        bars=tuple(
            Bar(
                key=key,
                label=label,
                segments=(Segment(key=key, label=label, value=max(0.0, gains[key]), color=color),),
            )
            for key, (label, color, _) in PARTS.items()
        ),
        caption="The axis ends at the share that was added: a part that reaches it is the only one "
        "that counts. What a part costs is for you to know; compare the bar with its price.",
    )
