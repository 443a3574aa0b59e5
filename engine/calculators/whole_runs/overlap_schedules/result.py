"""What the five schedules show: every number of the one that is looked at, and all outcomes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from engine.core.outputs import Told
from engine.core.units import LINK_SPEED, Bytes, Count, Ratio, Seconds, Share
from engine.form.overlap.inputs import Inputs, setting_of
from engine.formulas.overlap import hidden_share
from engine.simulate.overlap.overlap_job import Job, Setting, job
from engine.simulate.overlap.overlap_step import Outcome, data_messages, outcomes, tensor_traffic
from engine.simulate.streams.streams import SCALE_UP

_SIMULATED = (
    "One stage of the pipeline, simulated for its first micro-batches; each further one adds what "
    "the last of them added."
)
_LEFT_OUT = (
    "Layers only: embedding, output layer, optimizer and messages between stages are left out."
)
_MEANING = (
    "Exposed: a collective runs and the GPU computes nothing. Hidden: it runs beside computation."
)


def _told(label: str, how: str, note: str, color: str = "ink") -> Told:
    return Told(
        label,
        note=note,
        color=color,
        assumes=(how, _SIMULATED, _LEFT_OUT),
        sources=("hta", "rajbhandari2020", "li2020"),
        basis="simulated",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The schedule that is shown, what the others do beside it, and the wires' traffic.

    Attributes:
        work: the job.
        outcomes: of every schedule.
        hidden_shares: likewise.
        computing, residue_share: shares of the step.
        sent: bytes of data parallelism of one GPU, in `messages` collectives.
        line_rate: of the link that carries them.
        tensor_sent: bytes of tensor parallelism of one GPU, in `tensor_messages` collectives.
    """

    step_time: Annotated[
        Seconds,
        _told(
            "Step",
            "Compute, contention, exposed communication, bubble, slowest GPU.",
            "{computing} of it computing",
        ),
    ]
    exposed: Annotated[
        Seconds, _told("Exposed communication", _MEANING, "per step", "communication")
    ]
    contention: Annotated[
        Seconds,
        _told(
            "Contention",
            "While a collective runs, computation takes {slow_down} longer.",
            "what hiding costs the computation",
            "compute",
        ),
    ]
    hidden: Annotated[Share, _told("Hidden share", _MEANING, "of the communication")]
    residue: Annotated[
        Seconds,
        _told("Residue", "Step minus its computation alone.", "{residue_share} of the step"),
    ]
    gain: Annotated[
        Ratio,
        _told(
            "Against blocking",
            "Step of the blocking schedule over the step of the one shown.",
            "as fast",
        ),
    ]
    async_gain: Annotated[
        Ratio,
        _told(
            "Async TP against blocking TP",
            "Products and their collectives in as many pieces as tensor-parallel GPUs.",
            "the same step, schedule 3 over schedule 4",
        ),
    ]
    wire_minimum: Annotated[
        Seconds,
        _told(
            "Data parallelism, wire minimum",
            "{sent} at the line rate of the link, {line_rate}, and nothing else.",
            "bytes over line rate",
            "communication",
        ),
    ]
    isolated: Annotated[
        Seconds,
        _told(
            "Data parallelism, collectives alone",
            "All collectives of data parallelism of a step, with the latencies, "
            "protocols and bandwidth of NCCL, one after the other.",
            "what a benchmark shows",
            "communication",
        ),
    ]
    waited: Annotated[
        Seconds,
        _told(
            "Data parallelism, exposed",
            "The time in which a collective of data parallelism runs and nothing else does: "
            "no computation, and no collective of tensor parallelism.",
            "what the step pays",
            "communication",
        ),
    ]
    work: Job
    outcomes: Mapping[str, Outcome]
    hidden_shares: Mapping[str, Share]
    computing: Share
    residue_share: Share
    sent: Bytes
    messages: Count
    line_rate: Annotated[float, LINK_SPEED]
    tensor_sent: Bytes
    tensor_messages: Count


# To look at another schedule of the same job takes no new simulation.
@lru_cache(maxsize=4)
def _simulated(setting: Setting) -> tuple[Job, Mapping[str, Outcome]]:
    work = job(setting)
    return work, outcomes(setting, work)


def solve(inputs: Inputs) -> Result:
    """Return every number of the page."""
    setting = setting_of(inputs)
    work, found = _simulated(setting)
    one = found[inputs.schedule]
    hidden = {name: hidden_share(each.communication, each.exposed) for name, each in found.items()}
    tensor_sent, tensor_messages = tensor_traffic(setting, work)
    return Result(
        step_time=one.step,
        exposed=one.exposed,
        contention=one.contention,
        hidden=hidden[inputs.schedule],
        residue=one.residue,
        gain=found["blocking"].step / one.step,
        async_gain=found["sharded"].step / found["async"].step,
        wire_minimum=one.sent / work.line_rate,
        isolated=one.isolated,
        waited=one.waited,
        work=work,
        outcomes=found,
        hidden_shares=hidden,
        computing=one.compute / one.step,
        residue_share=one.residue / one.step,
        sent=one.sent,
        messages=data_messages(setting, work, inputs.schedule),
        line_rate=work.line_rate,
        tensor_sent=tensor_sent,
        tensor_messages=tensor_messages,
    )


def wire_of(result: Result) -> str:
    """Return the link that carries data parallelism."""
    return "NVLink" if result.work.stream == SCALE_UP else "network"
