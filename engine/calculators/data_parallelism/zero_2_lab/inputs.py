"""What the reader can change about the job, and its step at every stage."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from engine.core.inputs import Choice
from engine.core.outputs import Told
from engine.core.slices import Running, Slices, steps_done, whole
from engine.core.units import Bytes, Gbit, Ratio, Seconds
from engine.form.fields import LabGpu, OwnConstants
from engine.form.sharded.lab import (
    LabContention,
    LabMicro,
    LabModel,
    LabPort,
    LabRanks,
    LabTokens,
    simulated,
)
from engine.simulate.data_parallel.sharded_step import Sharded, sharded, step_length
from engine.simulate.overlap.overlap_job import Setting

NAMES = {0: "DDP", 1: "ZeRO-1", 2: "ZeRO-2"}
PORTS = (*(3.125 * Gbit * 2**i for i in range(9)), 1600 * Gbit)
_SOURCES = ("rajbhandari2020",)
_told = partial(simulated, _SOURCES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the reader can change."""

    zero_stage: Annotated[
        str, Choice(label="Stage shown", options={"2": "ZeRO-2", "1": "ZeRO-1", "0": "DDP"})
    ] = "2"
    micro_batches: LabMicro = 2
    model: LabModel = "llama-3-8b"
    ranks: LabRanks = 64
    tokens: LabTokens = 4096
    port: LabPort = 400 * Gbit
    slow_down: LabContention = 0.0
    gpu: LabGpu = "h100"
    own_constants: OwnConstants = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The steps of all stages, and the numbers of the one shown.

    Attributes:
        over_ports: stage -> step, as `PORTS` are.
    """

    runs: Mapping[int, Sharded]
    over_ports: Running[Mapping[int, list[Seconds]]]
    step_time: Annotated[Seconds, _told("Step", "without its optimizer")]
    exposed: Annotated[Seconds, _told("Exposed communication", "per step", "communication")]
    sent: Annotated[Bytes, _told("Sent by each GPU", "per step", "communication")]
    peak: Annotated[
        Bytes, _told("States and buffers, at most", "of {room} that can be used", "buffers")
    ]
    room: Bytes
    saved: Annotated[
        Bytes,
        Told(
            "ZeRO-2 saves",
            "",
            "of gradients, against ZeRO-1",
            "gradients",
            assumes=("Two bytes for a gradient; the share that stays is taken off.",),
            sources=_SOURCES,
        ),
    ]
    slower: Annotated[Ratio, _told("ZeRO-2 over ZeRO-1", "step times", "communication")]
    more: Annotated[Bytes, _told("ZeRO-2 sends more by", "per GPU and step", "communication")]


def setting_of(inputs: Inputs, micro: int) -> Setting:
    """Return the job, with so many micro-batches."""
    return Setting(
        model=inputs.model,
        gpu=inputs.gpu,
        tensor_parallel=1,
        pipeline_parallel=1,
        data_parallel=inputs.ranks,
        num_microbatches=micro,
        tokens=inputs.tokens,
        port=inputs.port,
        slow_down=inputs.slow_down,
        own=inputs.own_constants,
    )


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    return whole(search(inputs))


def search(inputs: Inputs) -> Slices[Result]:
    """Run a step of every stage, one after the other."""
    setting = setting_of(inputs, inputs.micro_batches)
    runs = {}
    for place, stage in enumerate(NAMES, start=1):
        yield steps_done(place, len(NAMES), "Stage")
        runs[stage] = sharded(setting, stage)
    own = runs[int(inputs.zero_stage)]
    return Result(
        runs=runs,
        over_ports=Running(_over_ports(setting)),
        step_time=own.seen.length,
        exposed=own.seen.exposed,
        sent=own.sent,
        peak=own.peak,
        room=own.room,
        saved=runs[1].states.gradients - runs[2].states.gradients,
        slower=runs[2].seen.length / runs[1].seen.length,
        more=runs[2].sent - runs[1].sent,
    )


def _over_ports(setting: Setting) -> Slices[Mapping[int, list[Seconds]]]:
    times: dict[int, list[Seconds]] = {1: [], 2: []}
    for place, port in enumerate(PORTS, start=1):
        for stage, lengths in times.items():
            yield steps_done(place, len(PORTS), "Port")
            lengths.append(step_length(replace(setting, port=port), stage))
    return times
