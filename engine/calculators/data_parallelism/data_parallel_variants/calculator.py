"""Data-parallel variants: star, ring, per-tensor overlap and buckets, run side by side."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from engine.calculators.data_parallelism.data_parallel_variants.charts import (
    NAMES,
    bars,
    table,
    timeline,
)
from engine.calculators.data_parallelism.data_parallel_variants.code import CODE
from engine.catalog.transports import INFINIBAND
from engine.core.inputs import GBITS, MEBIBYTES, MICROSECONDS, MILLISECONDS, Choice, Number, Unit
from engine.core.outputs import Teller, Told, Views
from engine.core.units import MICRO, MILLI, Count, Gbit, MiB, Seconds, Share
from engine.core.views import Code
from engine.form.missing_range import UNRANGED
from engine.formulas.overlap import EFFICIENCY
from engine.simulate.streams.ddp_variants import TENSORS, Job, Loop, play

TITLE = "Four ways to write the loop"
QUESTION = "Which of four training loops is fastest, and why?"
EQUATIONS = (EFFICIENCY,)
PRESETS = {
    "Slow network": {"port": 25 * Gbit},
    "Many small layers": {"layers": 80, "parameters": 2e6, "forward": 2e-4, "backward": 4e-4},
    "64 GPUs": {"world_size": 64},
}
_MILLIONS = Unit("M", 1e6, {"K": 1e3, "B": 1e9})
_RUN: Mapping[str, Any] = {
    "assumes": (
        "bf16 gradients in {tensors} equal tensors per layer; a star or a ring over {world_size} "
        "equal links, no contention.",
        "Optimizer, data loading and launches are left out.",
        UNRANGED,
    ),
    "sources": ("li2020",),
    "basis": "simulated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    variant: Annotated[
        str,
        Choice(label="Code shown", options=NAMES),
    ] = "buckets"
    world_size: Annotated[
        int, Number(label="GPUs", low=2, high=64, scale="log2", whole=True, symbol="n")
    ] = 8
    layers: Annotated[int, Number(label="Layers", low=2, high=80, whole=True)] = 16
    forward: Annotated[
        float,
        Number(
            label="Forward, per layer",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=50 * MILLI,
            scale="log",
        ),
    ] = 2 * MILLI
    backward: Annotated[
        float,
        Number(
            label="Backward, per layer",
            unit=MILLISECONDS,
            low=0.1 * MILLI,
            high=50 * MILLI,
            scale="log",
        ),
    ] = 4 * MILLI
    port: Annotated[
        float,
        Number(label="Link per GPU", unit=GBITS, low=1 * Gbit, high=7200 * Gbit, scale="log"),
    ] = 400 * Gbit
    parameters: Annotated[
        float,
        Number(
            label="Parameters, per layer",
            unit=_MILLIONS,
            low=1e5,
            high=3e9,
            scale="log",
            advanced=True,
        ),
    ] = 5e7
    latency: Annotated[
        float,
        Number(
            label="Latency of one step",
            unit=MICROSECONDS,
            low=1 * MICRO,
            high=50 * MICRO,
            scale="log",
            advanced=True,
        ),
    ] = INFINIBAND.step
    bucket: Annotated[
        float,
        Number(
            label="Bucket", unit=MEBIBYTES, low=1 * MiB, high=1024 * MiB, scale="log", advanced=True
        ),
    ] = 25 * MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One step of every loop; `step_time` is of the loop whose code is shown."""

    loops: Mapping[str, Loop]
    fastest: str
    tensors: Count = TENSORS
    step_time: Annotated[
        Seconds, Told("Step", "", "forward, backward, exposed communication", **_RUN)
    ]
    best: Annotated[Seconds, Told("Fastest", **_RUN)]
    naive: Annotated[Seconds, Told("Through rank 0", "", "every gradient through one port", **_RUN)]
    efficiency: Annotated[Share, Told("Efficiency", "q", assumes=("Times of both are simulated.",))]
    compute: Annotated[Seconds, Told(symbol="Tc")]
    exposed: Annotated[Seconds, Told(symbol="Te")]


def solve(inputs: Inputs) -> Result:
    """Return one step of every loop."""
    loops = play(
        Job(
            world_size=inputs.world_size,
            layers=inputs.layers,
            forward=inputs.forward,
            backward=inputs.backward,
            port=inputs.port,
            parameters=inputs.parameters,
            latency=inputs.latency,
            bucket=inputs.bucket,
        )
    )
    own = loops[inputs.variant]
    fastest = min(loops, key=lambda name: loops[name].account.length)
    return Result(
        loops=loops,
        fastest=fastest,
        step_time=own.account.length,
        best=loops[fastest].account.length,
        naive=loops["star"].account.length,
        efficiency=own.efficiency,
        compute=own.account.compute,
        exposed=own.account.exposed,
    )


def views(inputs: Inputs, result: Result) -> Views:
    """Return the views, in the order of the page."""
    tell = Teller(inputs, result, equations=EQUATIONS)
    shown = NAMES[inputs.variant]
    return {
        "step_time": tell.value("step_time"),
        "best": tell.value("best", note=NAMES[result.fastest]),
        "naive": tell.value("naive"),
        "efficiency": tell.value("efficiency", note=f"of {shown}"),
        "bars": partial(bars, tell, result.loops),
        "timeline": partial(timeline, tell, result.loops),
        "table": partial(table, result.loops),
        "code": Code(title=shown, language="python", text=CODE[inputs.variant]),
    }
